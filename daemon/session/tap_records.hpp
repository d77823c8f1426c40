// Turns the records in the rings of taps into calls of the recording. The rings of all threads are merged by time.
// Tracing thread only.
#pragma once
#include <memory>
#include <optional>
#include <vector>

#include "base/clock.hpp"
#include "base/recording.hpp"
#include "base/result.hpp"
#include "session/breakpoint_capture.hpp"
#include "session/call_effects.hpp"
#include "session/called_kernels.hpp"
#include "session/capture.hpp"
#include "session/leaf_calls.hpp"
#include "session/roster.hpp"
#include "session/stack_capture.hpp"
#include "session/tap_threads.hpp"
#include "tap/tsc_clock.hpp"

namespace fade {

class TapRecords {  // most fields are books that this engine shares with breakpoints
 public:
  struct Parts {
    EventSink& sink;
    const SessionClock& clock;
    const Roster& roster;
    FunctionTable& functions;
    StackCapture& stacks;
    CallBooks& books;
    CallEffects& effects;
    BreakpointCapture& breakpoints;
    SummedCalls summed_calls;
  };
  explicit TapRecords(const Parts& parts);

  // Starts the clock of records. Returns an Error if this machine's time stamp counter cannot be used.
  Result<void> begin();
  bool has_clock() const { return time_.has_value(); }
  // Session time in ns. Only with a clock.
  std::int64_t time_of(std::uint64_t tsc) const { return time_->at(tsc); }

  // Rings of this program are read from now on, as long as it exists.
  void add(const std::shared_ptr<TapThreads>& program) { programs_.push_back(program); }
  // Handles all records that were written until now; with `part`, only until a part of that ring was read. Returns the
  // processes that have written over a ring.
  std::vector<Inferior*> drain(const TapThread* part = nullptr);
  // No ring has a record that was not handled, or room for one that a thread has taken.
  bool is_idle() const;
  // The most bytes that were read from one ring, since last asked.
  std::uint64_t take_most_read();
  // Only sums are kept for a while, of all calls without calls inside.
  void sum_all(bool on) { leaves_.sum_all(on); }
  // Without it, only calls whose effects matter are followed.
  void set_recording(bool on) { recording_ = on; }
  bool is_recording() const { return recording_; }

  // The end of a call, as its record tells it, or would have.
  void left(Thread& thread, TapThread& ring, const tap::Record& record, const TapCell& cell);
  // The call is as if it had not begun: its thread will meet the entry again.
  void withdraw(Thread& thread, const TapCell& cell, RemoteAddr sp);
  // A failed call waits until its thread has told its stack: here, or never.
  void take_failed_stack(Thread& thread, TapThread& ring, RemoteAddr sp, const Registers& at_return);
  void complete_failed(TapThread& ring);
  // The call site of a call that returns there.
  CallSiteId caller_of(const Thread& thread, RemoteAddr return_address);

 private:
  struct Source;

  std::vector<Source> sources();
  void handle_until(Source& source, std::uint64_t until);
  bool take_alone(const Source& source, std::uint64_t until, std::uint64_t most);
  bool take_leaf(const Source& source, std::uint64_t until);
  void handle(const Source& source);
  void entered(Thread& thread, TapThread& ring, const tap::Record& record, const TapCell& cell);
  void keep_time();
  void lose(const char* why);

  EventSink& sink_;
  const SessionClock& clock_;
  const Roster& roster_;
  FunctionTable& functions_;
  StackCapture& stacks_;
  CallBook& book_;
  CallSites& sites_;
  QueuePackets& packets_;
  CallEffects& effects_;
  BreakpointCapture& breakpoints_;
  CalledKernels kernels_;
  LeafCalls leaves_;
  std::optional<tap::TscClock> time_;  // nullopt: no function is tapped
  std::int64_t time_kept_ = 0;
  std::vector<std::weak_ptr<TapThreads>> programs_;
  bool recording_ = true;
};

}  // namespace fade
