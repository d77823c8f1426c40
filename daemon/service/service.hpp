// The work of the daemon, for every client and transport: sessions, their workers, the programs to watch for. One row
// per method. Knows no socket. Belongs to the loop's thread.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/pid.hpp"
#include "ipc/server.hpp"
#include "service/authorization.hpp"
#include "service/metrics.hpp"
#include "service/session.hpp"
#include "service/state_dir.hpp"
#include "service/watch.hpp"

namespace fade::service {

struct ServiceOptions {
  std::string worker;  // program that does the tracing: absolute path of fade-attach
  std::size_t sessions = 64, sessions_per_user = 16, rules_per_user = 16, kept_per_user = 1000;
  std::vector<uid_t> allowed_users;  // may ask besides root; empty: every user who can connect
  std::string socket;                // only to be shown
  // The command that sends a recording, before the path of the file; empty: none is sent.
  std::vector<std::string> push;
};

class Service final : public ipc::Handler {  // one table of sessions, and the clients that wait for them
 public:
  using OnReload = std::function<void()>;
  Service(ipc::asio::io_context& loop, StateDir& state, ServiceOptions options, OnReload on_reload);

  // Takes over the sessions of a former daemon with workers that live on.
  void recover();
  // Detaches everything, then calls `done`. No session begins any more meanwhile.
  void stop_all(std::function<void()> done);
  std::size_t running() const { return running_.size(); }
  Metrics metrics() const;

  void handle(const ipc::Peer& peer, const ipc::Request& request, ipc::AnswerPtr answer) override;
  void refused(const ipc::Peer& peer, const Error& why) override;

 private:
  struct Call {
    const ipc::Peer& peer;
    const ipc::Json& params;
    const ipc::AnswerPtr& answer;
  };
  struct Method {
    std::string_view name;
    Result<ipc::Json> (Service::*run)(const Call&);  // null as result: answered later
  };
  static const std::vector<Method>& methods();

  Result<ipc::Json> status(const Call& call);
  Result<ipc::Json> list(const Call& call);
  Result<ipc::Json> show(const Call& call);
  Result<ipc::Json> attach(const Call& call);
  Result<ipc::Json> stop(const Call& call);
  Result<ipc::Json> pause(const Call& call);
  Result<ipc::Json> resume(const Call& call);
  Result<ipc::Json> mark(const Call& call);
  Result<ipc::Json> tail(const Call& call);
  Result<ipc::Json> prune(const Call& call);
  Result<ipc::Json> check(const Call& call);
  Result<ipc::Json> reload(const Call& call);
  Result<ipc::Json> watch_add(const Call& call);
  Result<ipc::Json> watch_list(const Call& call);
  Result<ipc::Json> watch_remove(const Call& call);

  // The common part of `attach` and a watch rule.
  struct Wish {
    ipc::Peer peer;
    Pid pid = 0;
    std::string via, name;  // `name` instead of the program's own
    ipc::Json options = ipc::Json::object();
  };
  Result<std::shared_ptr<Session>> begin(const Wish& wish);
  Result<void> may_begin(const Wish& wish) const;
  Result<SessionRecord> new_record(const Wish& wish, const ProcessStatus& status);
  void changed(Session& session, std::string_view what);
  void attached(Session& session);
  void ended(Session& session);
  void push(const SessionRecord& record) const;
  void tell_tails(const SessionRecord& record, std::string_view what);

  Result<std::shared_ptr<Session>> running_session(const Call& call);
  std::vector<SessionRecord> records_of(const ipc::Peer& peer) const;  // by id
  void save(const SessionRecord& record);
  void recover(SessionRecord record);
  void take_last_word(SessionRecord& record) const;  // removes its file; an end that was not heard is taken from it

  void look_for_programs();
  void attach_match(const Match& match);
  void schedule_look();
  void save_rules();
  void load_rules();

  ipc::asio::io_context& loop_;
  StateDir& state_;
  const ServiceOptions options_;
  OnReload on_reload_;
  const std::int64_t since_ns_;
  std::map<std::uint64_t, std::shared_ptr<Session>> running_;
  std::map<std::uint64_t, SessionRecord> ended_;
  std::multimap<std::uint64_t, ipc::AnswerPtr> until_attached_, until_ended_;  // the waiting clients, by session
  struct Tail {
    ipc::Peer peer;
    std::uint64_t session = 0;  // 0: all that the peer may see
    ipc::AnswerPtr answer;
  };
  std::vector<Tail> tails_;
  Watcher watcher_;
  ipc::asio::steady_timer look_;
  std::uint64_t next_rule_ = 1;
  std::function<void()> all_stopped_;
  ipc::TokenBucket refusals_{5, 50};  // that are logged
  std::uint64_t unlogged_ = 0;
  Counters counted_;                                         // of sessions that ended, since the daemon began
  std::map<std::string, std::uint64_t> started_, finished_;  // since then
};

}  // namespace fade::service
