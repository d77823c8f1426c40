// Children and threads that the kernel did not give to the program's tracer, because they were made with CLONE_UNTRACED
// (clone(2)). No event reports them. So /proc is read now and then, when a thread ends, and when a parent gets its
// child's end. Each child has a copy of the breakpoints, and of the net that keeps it alive without fade. Finds and
// reports; the session makes them tracees. Tracing thread only.
#pragma once
#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

#include "base/pid.hpp"
#include "session/roster.hpp"
#include "session/unclaimed_children.hpp"

namespace fade {

// A child that was found, and its inheritance from its parent. The parent may be gone by now.
struct UntracedChild {
  Pid pid = 0, parent_pid = 0;
  ProcessId parent = 0;
  // its parent's, if the child runs in the parent's memory; null: it has a memory of its own
  std::shared_ptr<Program> host;
  Inherited inherited;

  static UntracedChild of(const Inferior& parent, Pid child, bool is_guest);
};

class UntracedChildren {
 public:
  // `follows`: children of the first process are recorded, too.
  UntracedChildren(EventSink& sink, SessionClock clock, Roster& roster, const UnclaimedChildren& unclaimed,
                   bool follows)
      : sink_(sink), clock_(clock), roster_(roster), unclaimed_(unclaimed), follows_(follows) {}

  // This process was given to fade, or was there before fade.
  void know(Pid pid) { known_.insert(pid); }
  void know_children(const Inferior& inferior);

  // About once a second. Threads that were found become tracees at once, children wait for take().
  void look();
  // A thread of the process is about to end, and its children would get another parent.
  void look_at_thread(Inferior& parent, Tid tid);
  // A thread is about to get the SIGCHLD of a child that may not be known.
  void child_ended(const Thread& parent);

  bool has_found() const { return !found_.empty(); }
  std::vector<UntracedChild> take() { return std::exchange(found_, {}); }
  // Children that run in the memory of `host`, and are not traced.
  std::vector<UntracedChild> guests_of(Pid host) const;

  // Sends a Lifecycle row ("untraced").
  void report(ProcessId parent, TaskId task, std::string what);
  std::uint64_t reported() const { return reported_; }

 private:
  void look_at_threads(Inferior& inferior);
  void meet(Inferior& parent, Tid maker, Pid child);
  void forget_the_gone();

  EventSink& sink_;
  const SessionClock clock_;
  Roster& roster_;
  const UnclaimedChildren& unclaimed_;
  const bool follows_;
  std::unordered_set<Pid> known_;     // those that have just ended, too
  std::size_t most_known_ = 1 << 16;  // above this, those that have gone are forgotten
  std::vector<UntracedChild> found_;
  std::uint64_t reported_ = 0;
};

}  // namespace fade
