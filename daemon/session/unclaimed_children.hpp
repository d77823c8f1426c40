// Children and threads in their first stop, without an event of their makers yet (orphans.hpp). Each waits until its
// maker's event comes, or until no thread can report it any more. A child that is given up runs on untraced, with the
// net it was born with. Tracing thread only.
#pragma once
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/pid.hpp"
#include "session/orphans.hpp"
#include "session/roster.hpp"

namespace fade {

class UnclaimedChildren {
 public:
  UnclaimedChildren(EventSink& sink, SessionClock clock, const Roster& roster)
      : sink_(sink), clock_(clock), roster_(roster) {}

  void stopped(Tid tid) { looks_.try_emplace(tid, 0); }
  bool contains(Tid tid) const { return looks_.contains(tid); }
  // Its maker has reported it, or it has ended. True: it waited.
  bool claim(Tid tid) { return looks_.erase(tid) > 0; }
  // About ten times a second. Detaches the children that are given up, sends a Lifecycle row ("unwatched") each, and
  // returns them.
  std::vector<Tid> give_up();
  // The maker reports a child that was given up and is not traced. A pid that was given again is that of a tracee.
  bool was_given_up(Tid child);
  std::vector<Tid> all() const;
  void clear() { looks_.clear(); }

 private:
  Maker maker_of(Tid child) const;

  EventSink& sink_;
  const SessionClock clock_;
  const Roster& roster_;
  std::unordered_map<Tid, int> looks_;  // how often each was looked at
  std::unordered_set<Tid> given_up_;
};

}  // namespace fade
