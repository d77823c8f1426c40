// The way of breakpoints into a process that runs already, and with threads that are tracees. All reading is done while
// the process runs. One thread is stopped for the remote system calls that lay the net. Each thread that blocks SIGTRAP
// is stopped for a moment. Tracing thread only.
//
// Stops are handled at many places in between. At each stop the process may end or execute another program. The new
// program is watched from its start.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "base/pid.hpp"
#include "session/foothold.hpp"
#include "session/module_watch.hpp"
#include "session/rendezvous.hpp"
#include "session/sigtrap/trap_guard.hpp"
#include "session/stack_capture.hpp"

namespace fade {

class Arrival {
 public:
  struct Parts {
    SessionClock clock;
    const Roster& roster;
    Rendezvous& rendezvous;
    ModuleWatch& modules;
    const TrapGuard& guard;
    FunctionTable& functions;
    StackCapture& stacks;
    // Children in the memory of this process become tracees. Called between the net and the breakpoints.
    std::function<void(Pid)> meet_guests;
  };
  explicit Arrival(Parts parts) : parts_(std::move(parts)), rendezvous_(parts_.rendezvous) {}

  // Success: the process is watched, or has executed another program meanwhile. Fails with ESRCH (gone), ENOTSUP
  // (cannot be watched), EAGAIN or ECANCELED. The caller gives the process back, also after a failure.
  Result<void> watch(Inferior& inferior);

  // How long threads stood still, of all processes together.
  HoldTimes holds() const { return holds_.of(threads_); }
  HoldClock& hold_clock() { return holds_; }
  // The calls that threads were in when fade attached: "function (thread N)".
  const std::vector<std::string>& calls_in_flight() const { return calls_in_flight_; }

 private:
  Result<Foothold> wait_for_foothold(ProgramMark program);
  Result<void> enter(Inferior& inferior, const Foothold& foothold);
  Result<void> lay_net(Inferior& inferior, const Foothold& foothold);
  void await_exec(const Inferior& inferior);
  Result<void> check_filters(const Inferior& inferior);
  void unblock_traps(ProgramMark program, RemoteRange libc);
  void await_forks(const Inferior& inferior);
  void tell_calls_in_flight(Inferior& inferior);

  const Parts parts_;
  Rendezvous& rendezvous_;
  HoldClock holds_;
  std::uint64_t threads_ = 0;
  std::vector<std::string> calls_in_flight_;
};

}  // namespace fade
