// The engine that records calls with breakpoints: one at a function's entry, one at the call's return address. A call
// costs two stops. Anything can be read at these stops, so this engine can capture every function. It resumes no
// thread. Tracing thread only.
#pragma once
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/pid.hpp"
#include "probes/injections/injections.hpp"
#include "probes/overrides/overrides.hpp"
#include "ptrace/registers.hpp"
#include "session/action_runner.hpp"
#include "session/argument_reader.hpp"
#include "session/blas/blas_check.hpp"
#include "session/call_effects.hpp"
#include "session/called_kernels.hpp"
#include "session/capture.hpp"
#include "session/corrector.hpp"
#include "session/function_table.hpp"
#include "session/injector.hpp"
#include "session/number_watch.hpp"
#include "session/return_watch.hpp"
#include "session/stack_capture.hpp"
#include "session/tensor_reader.hpp"

namespace fade {

class BreakpointCapture final : public Capture {  // each field reads or changes one part of a call
 public:
  struct Parts {  // the parameters of the constructor
    EventSink& sink;
    const SessionClock& clock;
    const Roster& roster;
    FunctionTable& functions;
    const probes::Overrides& overrides;
    bool keeps_answers;  // as in Corrector
    const probes::Injections& injections;
    bool replaces_dry;
    StackCapture& stacks;
    CallBooks& books;
    CallEffects& effects;
    const numbers::WatchRule& numbers;
    const blas::CheckRule& check;
    const std::string& check_program;
    const std::vector<actions::Rule>& actions;
    const StepRule& step;
  };
  explicit BreakpointCapture(const Parts& parts);

  bool can(const Entry&) const override { return true; }
  std::vector<Result<bool>> watch(Inferior& inferior, std::span<const WatchedFunction> functions, Tid stopped) override;
  // Takes the traps of all breakpoints, also of those that guard libc and the loader. Calls that the stop completes are
  // in the CallBook, for a flush() with the time for which the stop held the thread.
  std::optional<std::uint32_t> on_trap(Thread& thread, const Registers& registers, std::int64_t now) override;
  void drain() override { book_.flush(); }
  // The thread is at the entry of a function whose calls another engine sees, but not this one. The thread goes on in
  // the function by the way of the other engine.
  void take(Thread& thread, std::uint32_t index, const Registers& at_entry, std::int64_t now);
  // Another engine sees calls without a stop. `now` returns a time, after it has recorded all calls that began before.
  void let_record_first(std::function<std::int64_t()> now) { now_behind_others_ = std::move(now); }
  void forget(Inferior& inferior, RemoteRange range, Tid stopped) override;
  void leave(Inferior& inferior, Tid stopped) override { inferior.space().put_back(stopped); }
  void thread_ended(Thread& thread, bool process_ended) override;
  void set_recording(bool on) override { recording_ = on; }

  // The call was of a function that sets its thread's device, and has succeeded.
  void follow_device(Thread& thread, const probes::Probe& probe, const OpenCall& call);

  // A delay of the thread has ended: its calls that end with the delay are complete.
  void delay_ended(Thread& thread, std::int64_t now);

  const Corrector& corrector() const { return corrector_; }
  const Injector& injector() const { return injector_; }
  NumberWatch& numbers() { return numbers_; }
  BlasCheck& checks() { return checks_; }
  ActionRunner& actions() { return actions_; }
  const ActionRunner& actions() const { return actions_; }
  ReturnWatch& returns() { return returns_; }
  const ReturnWatch& returns() const { return returns_; }

 private:
  std::uint32_t hit(Thread& thread, const Site& site, bool in_pad, const Registers& registers, std::int64_t now);
  void enter(Thread& thread, std::uint32_t index, const Registers& registers, std::span<const std::uint64_t> on_stack,
             std::int64_t now);
  // The thread is on an errand of --check blas, and this stop belongs to the errand.
  bool is_of_errand(Thread& thread, const Site& site, RemoteAddr sp);
  void begin(const Thread& thread, bool is_recorded, CallRecord& record);
  std::uint32_t leave(Thread& thread, const Registers& registers, RemoteAddr return_address, std::int64_t now);
  bool is_recorded(const Entry& entry) const { return entry.what == Entry::What::Function && recording_; }
  // Tests if calls from there are recorded, and counts those that are not.
  static bool is_wanted(Entry& entry, const CallSite& site);
  // Tests if the arguments are those of a call that is recorded (@only).
  static bool has_wanted_values(const Entry& entry, const OpenCall& call);
  void read_arguments(Thread& thread, const Entry& entry, const Registers& registers,
                      std::span<const std::uint64_t> on_stack, OpenCall& call);
  // A rule of --inject acts on the call that begins. True: the call is skipped, and complete.
  bool inject(Thread& thread, const Entry& entry, const Registers& registers, OpenCall& call);
  void skip(Thread& thread, const Entry& entry, const Registers& registers, std::int64_t error, OpenCall& call);
  void inject_at_return(Thread& thread, const Entry& entry, Registers& registers, OpenCall& call);
  EndedCall returned(Thread& thread, OpenCall call, Registers& registers, std::int64_t now);
  void complete(Thread& thread, OpenCall call);
  void take_result(Thread& thread, const Entry& entry, const Registers& registers, OpenCall& call);
  void succeeded(Thread& thread, const Entry& entry, OpenCall& call);

  EventSink& sink_;
  const SessionClock& clock_;
  FunctionTable& functions_;
  StackCapture& stacks_;
  CallBook& book_;
  CallSites& sites_;
  QueuePackets& packets_;
  CallEffects& effects_;
  ReturnWatch returns_;
  ArgumentReader arguments_;
  TensorReader tensors_;
  CalledKernels kernels_;
  Corrector corrector_;
  Injector injector_;
  NumberWatch numbers_;
  BlasCheck checks_;
  ActionRunner actions_;
  std::function<std::int64_t()> now_behind_others_;  // empty: no other engine sees calls
  bool recording_ = true;
};

}  // namespace fade
