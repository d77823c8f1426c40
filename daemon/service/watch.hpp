// The programs to attach to without a request, and finding them: a look at /proc once a second. Knows neither sessions
// nor clients. The processes' own names are not trusted.
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/pid.hpp"
#include "base/result.hpp"
#include "ipc/json.hpp"
#include "service/pattern.hpp"

namespace fade::service {

struct WatchRule {
  std::uint64_t id = 0;
  uid_t owner = 0;  // sessions are theirs; only root's rules look at other users' programs
  gid_t owner_group = 0;
  std::optional<Pattern> exe;  // of the program's path
  std::string cgroup;          // shell pattern on the path of the cgroup; empty: any
  std::optional<uid_t> uid;    // programs of this user; nullopt: of all users, if the owner is root
  ipc::Json options = ipc::Json::object();
};
ipc::Json to_json(const WatchRule& rule);
Result<WatchRule> rule_from(const ipc::Json& json);
// True if both are of one user and say the same. Each program is attached to once, so the second rule would do nothing.
bool is_same_wish(const WatchRule& one, const WatchRule& other);

struct Match {
  Pid pid = 0;
  std::uint64_t start_ticks = 0;
  WatchRule rule;
};

class Watcher {
 public:
  explicit Watcher(std::string proc = "/proc") : proc_(std::move(proc)) {}

  std::vector<WatchRule> rules;

  // Programs that match a rule and have mapped a GPU runtime, each once in its life (so once per exec at most).
  std::vector<Match> look();
  // The process has a session: it is no longer matched.
  void skip(Pid pid, std::uint64_t start_ticks);

 private:
  struct Seen {
    std::uint64_t start_ticks = 0;
    std::uint64_t looks = 0;
    bool done = false;
    bool here = false;  // in this look
  };
  bool wanted_user(uid_t uid) const;
  const WatchRule* rule_for(Pid pid, uid_t uid) const;
  std::optional<Match> look_at(Pid pid, uid_t uid);

  std::string proc_;
  std::map<Pid, Seen> seen_;
};

// Whether a line of /proc/PID/maps names a library that serves HIP calls: AMD's runtime, or ZLUDA in CUDA's place.
bool maps_gpu_runtime(std::string_view maps);

}  // namespace fade::service
