// Tests by the kernel's counters if its out-of-memory killer has been at work: those of a process' memory control group
// (cgroups(7), versions 1 and 2) and of the whole machine. Its SIGKILL does not show it. Tracing thread only.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "base/pid.hpp"

namespace fade {

class OomWatch {
 public:
  // `root`: a prefix of /proc and /sys, for tests.
  explicit OomWatch(std::string root = {}) : root_(std::move(root)) {}

  // From now on the group of this process is looked at.
  void knows(Pid pid);
  // About once a second: kills that were counted before the last look but one are no longer news.
  void look();

  struct Verdict {
    bool is_certain = false;  // its own control group has counted; otherwise only the machine
    std::string evidence;
  };
  // For a process that SIGKILL has just killed; nullopt: no counter has counted.
  std::optional<Verdict> killed(Pid pid) const;

 private:
  struct Counted {
    std::uint64_t before = 0, last = 0;  // at the last but one look, and at the last
  };
  std::string group_file(Pid pid) const;

  const std::string root_;
  std::map<std::string, Counted> groups_;  // by the file that counts
  std::optional<Counted> machine_;
};

}  // namespace fade
