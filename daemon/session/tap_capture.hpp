// The engine that records calls with taps: code in the program that writes each call into a ring of its thread
// (tap/stub.hpp). A call costs no stop. A thread stops only if its tap has a question, or if its ring is full. The
// rings are read at each of these stops, at each stop of a breakpoint, and at a drain().
//
// A function is tapped at the jump in its entry, which the engine of breakpoints has set. All that a tap cannot do
// stays with that engine: functions without such a jump, and calls of threads that have no ring. Functions of a library
// that has run get their jumps later (Conversion). Tracing thread only.
#pragma once
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/clock.hpp"
#include "base/pid.hpp"
#include "base/recording.hpp"
#include "session/breakpoint_capture.hpp"
#include "session/capture.hpp"
#include "session/roster.hpp"
#include "session/stack_capture.hpp"
#include "session/tap_gates.hpp"
#include "session/tap_questions.hpp"
#include "session/tap_signals.hpp"

namespace fade {

class TapCapture final : public Capture {
 public:
  struct Parts : TapRecords::Parts {
    CaptureEngine engine = CaptureEngine::Breakpoints;
  };
  explicit TapCapture(const Parts& parts);

  bool can(const Entry& entry) const override { return records_.has_clock() && why_not(entry).empty(); }
  bool wants_jumps() const override { return records_.has_clock(); }
  // With CaptureEngine::Auto the functions get breakpoints, until tap_all().
  std::vector<Result<bool>> watch(Inferior& inferior, std::span<const WatchedFunction> functions, Tid stopped) override;
  // The reason why no such function can be tapped, which goes on from its name; empty: it can be.
  std::string why_not(const Entry& entry) const;
  // Every place of the function in the stopped thread's program that has a breakpoint is tapped from now on. False: it
  // needs its entry jump first, and Conversion sees to it. Fails, with a reason that goes on from the function's name,
  // if none can be tapped.
  Result<bool> tap_all(Thread& stopped, std::uint32_t entry);
  // The functions of the program that were tapped, and not called for `ns`, have breakpoints again. Returns them.
  std::vector<std::uint32_t> untap_quiet(Program& program, std::int64_t ns);
  // Reads the rings in any case, and once more before a breakpoint's call gets its id: all that began before it have
  // lower ones.
  std::optional<std::uint32_t> on_trap(Thread& thread, const Registers& registers, std::int64_t now) override;
  void drain() override { drain_.all(); }
  TapDrain& rings() { return drain_; }
  // The most bytes that were read from one ring, since last asked.
  std::uint64_t take_most_read() { return records_.take_most_read(); }
  void loaded(Inferior& inferior, Tid stopped) override { unwinders_.loaded(inferior, stopped); }
  bool may_unload(Inferior& inferior) override { return unwinders_.may_unload(inferior); }
  void forget(Inferior& inferior, RemoteRange range, Tid stopped) override;
  void leave(Inferior& inferior, Tid stopped) override;
  void thread_ended(Thread& thread, bool process_ended) override;
  void copied(Inferior& inferior, Tid stopped) override;
  void thread_exits(Thread& thread) override { thread_ended(thread, false); }
  void set_recording(bool on) override;

  // Taps a function that has an entry jump. After a failure it keeps its breakpoint.
  Result<void> tap(Inferior& inferior, const WatchedFunction& function, Tid stopped);
  // Ensures that the program has memory for taps. After a failure its functions keep their breakpoints.
  Result<void> place(Inferior& inferior, RemoteAddr function, Tid stopped);

  // As TapRecords::sum_all().
  void sum_all(bool on) { records_.sum_all(on); }
  // Sends the calls that gates have counted since the last time.
  void count() { gates_.count(records_.is_recording()); }
  // Calls of the tapped function of `cell` get no rows if `sums_only`, and go through a gate with this mask.
  Result<void> let_through(Inferior& inferior, TapCell& cell, bool sums_only, std::uint32_t mask);

  TapSignals& signals() { return signals_; }

  // Sentences for the user at the end of the recording.
  const std::vector<std::string>& notes() const { return refusals_.sentences(); }

 private:
  bool is_for_all_functions() const { return engine_ == CaptureEngine::Taps; }
  Result<void> tap(Inferior& inferior, Site* site, std::uint32_t entry, Tid stopped);
  void withdraw_shown(const Inferior& inferior, const TapCell& cell, const Site& site);

  const Roster& roster_;
  FunctionTable& functions_;
  StackCapture& stacks_;
  BreakpointCapture& breakpoints_;
  const CaptureEngine engine_;
  TapRecords records_;
  TapGates gates_;
  TapUnwinders unwinders_;
  TapRefusals refusals_;
  TapDrain drain_;
  TapQuestions questions_;
  TapSignals signals_;
  std::string no_clock_;  // the reason why records would have no time
};

}  // namespace fade
