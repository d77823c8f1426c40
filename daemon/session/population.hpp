// The processes and threads of a session: their begin and end, for all objects that keep books on them; and those that
// are not tracees, or not yet. Tracing thread only.
#pragma once
#include <memory>

#include "base/clock.hpp"
#include "base/pid.hpp"
#include "ptrace/stop.hpp"
#include "session/black_box.hpp"
#include "session/engines.hpp"
#include "session/roster.hpp"
#include "session/sigtrap/untraced_children.hpp"
#include "session/stop_tally.hpp"
#include "session/unclaimed_children.hpp"

namespace fade {

// The first process of a session.
struct MainProcess {
  Pid pid = 0;
  bool started = false;  // it has executed its program
  bool ended = false;
  int status = 0;            // exit status, or
  int signal = 0;            // the signal that killed it
  std::int64_t life_ns = 0;  // from its begin to its end; 0: it has not ended
};

class Population {
 public:
  struct Parts {
    EventSink& sink;
    const SessionClock& clock;
    Roster& roster;
    const Engines& engines;
    StopTally& tally;
    BlackBox& black_box;
    bool follows;      // children of the first process are recorded, too
    int first_device;  // HIP's ordinal of the current device of a thread that begins, or kUnknownDevice
  };
  explicit Population(const Parts& parts);

  Inferior& add(Pid pid, ProcessId parent, std::shared_ptr<Program> program);
  // A process that the user asked for. The first one is the main process.
  Inferior& add_root(Pid pid, ProcessId parent, std::shared_ptr<Program> program);
  // A thread whose calls are seen from its begin on.
  Thread& add_thread(Inferior& inferior, Tid tid) { return p_.roster.add_thread(inferior, tid, p_.first_device); }

  // The calls and the costs of the thread are sent, then its end.
  void end_thread(Thread& thread, bool process_ended);
  // wait(2) has reported the end of the process by `stop`.
  void end(Inferior& inferior, const Stop& stop);
  // The process ended before it was a tracee, so wait(2) does not report its end.
  void end_unseen(const Inferior& inferior);
  // The process runs on without fade.
  void let_run(Inferior& inferior);

  int first_device() const { return p_.first_device; }
  MainProcess& main() { return main_; }
  const MainProcess& main() const { return main_; }
  bool is_empty() const { return p_.roster.processes().empty() && !untraced_.has_found(); }
  // Of all processes, as far as it was seen: from the first begin to the last end.
  std::int64_t life_ns() const;

  UnclaimedChildren& unclaimed() { return unclaimed_; }
  UntracedChildren& untraced() { return untraced_; }
  const UntracedChildren& untraced() const { return untraced_; }
  // About ten times a second. Children that their makers can no longer report run on untraced.
  void give_up_children();

 private:
  const Parts p_;
  UnclaimedChildren unclaimed_;
  UntracedChildren untraced_;
  MainProcess main_;
  std::int64_t last_end_ = 0;  // of a process; session time
};

}  // namespace fade
