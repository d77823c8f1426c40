// Children and threads in their first stop, without an event of their makers yet (orphans.hpp). Each waits until its
// maker's event comes, or until no thread can report it any more. A child that is given up runs on untraced, with the
// net it was born with. Tracing thread only.
#pragma once
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "session/orphans.hpp"
#include "session/roster.hpp"

namespace fade {

class UnclaimedChildren {
 public:
  UnclaimedChildren(EventSink& sink, SessionClock clock, const Roster& roster)
      : sink_(sink), clock_(clock), roster_(roster) {}

  void stopped(pid_t tid) { looks_.try_emplace(tid, 0); }
  bool contains(pid_t tid) const { return looks_.contains(tid); }
  // Its maker has reported it, or it has ended. True: it waited.
  bool claim(pid_t tid) { return looks_.erase(tid) > 0; }
  // About ten times a second. Detaches the children that are given up, sends a Lifecycle row ("unwatched") each, and
  // returns them.
  std::vector<pid_t> give_up();
  // The maker reports a child that was given up and is not traced. A pid that was given again is that of a tracee.
  bool was_given_up(pid_t child);
  std::vector<pid_t> all() const;
  void clear() { looks_.clear(); }

 private:
  Maker maker_of(pid_t child) const;

  EventSink& sink_;
  const SessionClock clock_;
  const Roster& roster_;
  std::unordered_map<pid_t, int> looks_;  // how often each was looked at
  std::unordered_set<pid_t> given_up_;
};

}  // namespace fade
