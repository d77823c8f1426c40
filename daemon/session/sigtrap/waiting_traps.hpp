// SIGTRAPs that a program blocks and takes without a handler: by signalfd(2), sigtimedwait(2), sigpending(2). In a
// process with breakpoints SIGTRAP is never blocked for the kernel (TrapGuard), so such a signal cannot wait there. It
// goes to a thread that sleeps for it. If there is none, the breakpoints of that process are removed: the program's
// signal goes before fade's record. Tracing thread only.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "base/pid.hpp"
#include "session/engines.hpp"
#include "session/foothold.hpp"
#include "session/rendezvous.hpp"
#include "session/sigtrap/trap_guard.hpp"

namespace fade {

class WaitingTraps {
 public:
  WaitingTraps(const Tracer& tracer, EventSink& sink, SessionClock clock, const Roster& roster, Rendezvous& rendezvous,
               const TrapGuard& guard, const Engines& engines)
      : tracer_(tracer),
        sink_(sink),
        clock_(clock),
        roster_(roster),
        rendezvous_(rendezvous),
        guard_(guard),
        engines_(engines) {}

  // The thread stands in the stop of a SIGTRAP that no breakpoint raised. True: the program believes SIGTRAP blocked,
  // so the signal waits here, and the thread goes on. False: it is to be delivered.
  bool holds_back(Thread& thread);
  // About ten times a second: signals that waited go to a thread that takes them by now, or to the program. Processes
  // that lost the net's action are found (TrapGuard::mend_action).
  void look();
  // A sentence for each process that lost its breakpoints.
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  void on_stop(Thread& thread);
  void look_at_waiting();
  void give_back(Thread& stopped);
  void block(std::vector<Tid> tids, const AddressSpace& space);
  void send(const Thread& stopped, Thread& keeper, const Thread* taker);
  static void take_up(Thread& stopped);

  const Tracer& tracer_;
  EventSink& sink_;
  const SessionClock clock_;
  const Roster& roster_;
  Rendezvous& rendezvous_;
  const TrapGuard& guard_;
  const Engines& engines_;
  std::vector<std::string> notes_;
};

}  // namespace fade
