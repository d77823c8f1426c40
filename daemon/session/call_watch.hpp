// All that a session needs to see calls: the functions, the engines that capture them, and the books that the engines
// share. Handles the stops at breakpoints. It has 17 members, because it owns each part that a call passes through.
// Tracing thread only.
#pragma once
#include <optional>

#include "base/clock.hpp"
#include "probes/overrides/overrides.hpp"
#include "ptrace/cpu_follower.hpp"
#include "ptrace/stop_samples.hpp"
#include "session/breakpoint_capture.hpp"
#include "session/call_effects.hpp"
#include "session/capture.hpp"
#include "session/delays.hpp"
#include "session/engines.hpp"
#include "session/governing.hpp"
#include "session/module_watch.hpp"
#include "session/roster.hpp"
#include "session/session_options.hpp"
#include "session/sigtrap/trap_guard.hpp"
#include "session/stack_capture.hpp"
#include "session/stop_tally.hpp"
#include "session/tap_capture.hpp"
#include "session/tap_promotion.hpp"

namespace fade {

class CallWatch {  // the fields are the engines and all that they share; this one only connects them
 public:
  CallWatch(EventSink& sink, const SessionClock& clock, const Roster& roster, const probes::Overrides& overrides,
            const SessionOptions& options);

  // The thread stopped with a SIGTRAP at time `now`. If the trap is of a breakpoint, handles the stop, resumes the
  // thread, and returns the session time afterwards. nullopt: another SIGTRAP, and nothing was done.
  std::optional<std::int64_t> on_trap(Thread& thread, std::int64_t now);
  // A stop that began at `since` has been handled; it is charged to `entry` of the function table, 0: to no function.
  // Returns the session time.
  std::int64_t account(std::uint32_t entry, std::int64_t since);

  // A signal is about to be delivered to the thread. If it met the thread in an instruction that was moved, the thread
  // is moved to the address that the program knows: a handler may look at it, and may return there without fade. The
  // instruction may be tried again then, and that is not another call.
  void show_own_address(Thread& thread);

  void set_recording(bool on);
  // Often: threads that a delay of --inject has held long enough go on.
  void look_after_delays() { delays_.look(); }
  void end_delays(const Inferior& of) { delays_.release(&of); }
  // As Capture::copied().
  void copied(Inferior& inferior, Tid stopped);
  // Nothing is watched from now on. The caller has the engines leave each process.
  void stop();
  bool is_on() const { return engines_.is_on(); }

  // Sends the costs of stops and stacks, and the imports that have been bound, since the last time.
  void report(bool at_end);
  // Reads the imports of all processes; no thread is stopped. `all`: also those that are settled.
  void look_at_imports(bool all);
  // Functions that are tapped and quiet have breakpoints again.
  void look_for_quiet_taps() { promotion_.look_for_quiet(); }
  // --budget: what calls cost on this machine, without that of stops of the program itself.
  void know_prices(const BudgetPrices& prices, std::int64_t run_ns);
  void hold_budget();
  // --schedule, --window: while no call has a row, tapped calls are summed, and stacks are not taken.
  void follow_detail();
  // Tapped functions stop no thread. The tracer then leaves the program's CPU.
  void leave_cpu_if_quiet(std::int64_t now) {
    if (follower_.rest_if_quiet(now)) sink_.keeps_to(-1);
  }
  // Return places give their breakpoints back if breakpoints are scarce.
  void rest_returns();

  FunctionTable& functions() { return functions_; }
  Engines& engines() { return engines_; }
  ModuleWatch& modules() { return modules_; }
  const ModuleWatch& modules() const { return modules_; }
  StackCapture& stacks() { return stacks_; }
  StopTally& tally() { return tally_; }
  const StopTally& tally() const { return tally_; }
  const TrapGuard& guard() const { return guard_; }
  BlasCheck& checks() { return breakpoints_.checks(); }
  ActionRunner& actions() { return breakpoints_.actions(); }
  const BreakpointCapture& breakpoints() const { return breakpoints_; }
  TapCapture& taps() { return taps_; }
  const TapCapture& taps() const { return taps_; }
  const Governing& governing() const { return governing_; }

 private:
  void answer(Thread& thread, const Entry& entry, const Registers& registers);
  void at_loader(const Thread& thread, const Registers& registers);
  void go_on(Thread& thread, std::int64_t now);

  EventSink& sink_;
  const SessionClock& clock_;
  const Roster& roster_;
  const std::int64_t return_rest_ns_;
  FunctionTable functions_;
  Engines engines_;
  ModuleWatch modules_;
  StackCapture stacks_;
  CallBooks books_;
  CallEffects effects_;
  BreakpointCapture breakpoints_;
  TapCapture taps_;
  TapPromotion promotion_;
  Governing governing_;
  BudgetPrices prices_;
  std::int64_t run_ns_ = 0;  // of the price of a stop, what the thread itself runs; 0: not known
  StopTally tally_;
  TrapGuard guard_;
  CpuFollower follower_;
  StopSamples samples_;
  Delays delays_;
};

}  // namespace fade
