// --actions: does the work of rules when a call of their functions has returned. The thread stands at its stop.
// Everything that is done is a row, and each rule has a limit. Tracing thread only.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "actions/rules.hpp"
#include "base/clock.hpp"
#include "base/recording.hpp"
#include "session/call_book.hpp"
#include "session/function_table.hpp"
#include "session/inferior.hpp"
#include "session/side_command.hpp"
#include "session/stack_capture.hpp"

namespace fade {

class ActionRunner {
 public:
  ActionRunner(EventSink& sink, const SessionClock& clock, CallBook& book, StackCapture& stacks,
               const std::vector<actions::Rule>& rules, const StepRule& step)
      : sink_(sink), clock_(clock), book_(book), stacks_(stacks), step_(step) {
    for (const actions::Rule& rule : rules) rules_.push_back({rule});
  }

  // Files of `dump` have names that begin like the recording's.
  void write_beside(std::string recording) { recording_ = std::move(recording); }
  // Sends the rules.
  void begin() const;
  // A recorded call has returned; its result and outputs are read.
  void at_return(Thread& thread, const Entry& entry, const Registers& registers, OpenCall& call);
  // True once after a rule asked for a snapshot: it needs other threads to stop, so it is taken between stops.
  bool take_snapshot_wish() { return std::exchange(wants_snapshot_, false); }
  std::uint64_t done() const { return done_; }
  std::uint64_t failed() const { return failed_; }

 private:
  struct State {
    actions::Rule rule;
    std::uint64_t done = 0;
    bool is_at_limit = false;
  };
  struct Outcome {
    std::string detail;
    bool has_failed = false;
  };
  struct Hit {  // a call for which a rule holds
    Thread& thread;
    const Entry& entry;
    const Registers& registers;
    OpenCall& call;
  };
  void count_step(const Thread& thread, const Entry& entry, const OpenCall& call);
  std::optional<double> step_of(const Thread& thread) const;
  void run(State& state, Hit& hit, const actions::Facts& facts);
  Outcome act(const State& state, Hit& hit, const actions::Facts& facts);
  StackId stack_of(Hit& hit) const;
  Outcome dump(const State& state, const Hit& hit, const actions::Facts& facts);
  Outcome send_signal(const Hit& hit, int signal) const;
  Outcome stop(const Hit& hit) const;
  Outcome start(const actions::Rule& rule, const Hit& hit, const actions::Facts& facts) const;
  void tell(const State& state, const Hit& hit, std::string action, Outcome outcome, StackId stack);

  EventSink& sink_;
  const SessionClock& clock_;
  CallBook& book_;
  StackCapture& stacks_;
  const StepRule step_;
  const Scheduling scheduling_ = Scheduling::now();  // of fade, before it follows a thread of the program
  std::vector<State> rules_;
  std::string recording_;
  bool wants_snapshot_ = false;
  std::uint64_t done_ = 0, failed_ = 0, dumped_ = 0;
  struct Steps {
    std::uint64_t calls = 0, steps = 0;
  };
  std::unordered_map<ThreadId, Steps> steps_;
  std::unordered_map<ProcessId, std::uint64_t> newest_step_;
};

}  // namespace fade
