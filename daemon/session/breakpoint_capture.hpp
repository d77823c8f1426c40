// Records calls with breakpoints: one at a function's entry, one where the call returns to. Turns each stop into a step
// of a call. Resumes no thread: the session does that between enter() or leave() and flush(), so that a thread is held
// only while its registers and memory are needed. Tracing thread only.
#pragma once
#include <optional>
#include <span>
#include <vector>

#include "base/clock.hpp"
#include "probes/overrides/overrides.hpp"
#include "ptrace/registers.hpp"
#include "session/argument_reader.hpp"
#include "session/call_book.hpp"
#include "session/call_sites.hpp"
#include "session/called_kernels.hpp"
#include "session/corrector.hpp"
#include "session/export_table.hpp"
#include "session/function_table.hpp"
#include "session/inferior.hpp"
#include "session/return_watch.hpp"
#include "session/stack_capture.hpp"

namespace fade {

class BreakpointCapture {
 public:
  BreakpointCapture(EventSink& sink, const SessionClock& clock, FunctionTable& functions,
                    const probes::Overrides& overrides, StackCapture& stacks, std::size_t most_call_sites);

  // A call that has ended.
  struct Left {
    std::uint32_t entry = 0;  // of the function table
    std::uint64_t result = 0;
    bool is_resolver = false;  // an IFUNC resolver, which is not recorded
    std::optional<TableGiven> table;
  };

  // The stopped thread is at the entry of function `entry` at time `now`. `on_stack`: as much of the stack as is known
  // already, from the stack pointer on.
  void enter(Thread& thread, std::uint32_t entry, const Registers& registers, std::span<const std::uint64_t> on_stack,
             std::int64_t now);
  // The stopped thread is at a return address of calls at time `now`. Gives the calls that ended, innermost first:
  // several if a function jumped into another one, none if no open call returns here. Valid until the next leave().
  std::span<const Left> leave(Thread& thread, const Registers& registers, RemoteAddr return_address, std::int64_t now);
  // Sends the calls that are complete. `held_ns`: how long the stop held the thread that completed them.
  void flush(std::int64_t held_ns = 0) { book_.flush(held_ns); }
  void thread_ended(Thread& thread, bool process_ended) { book_.thread_ended(thread, process_ended); }
  // While recording is off, calls get no numbers and no rows; rules are applied all the same.
  void set_recording(bool on) { recording_ = on; }

  const Corrector& corrector() const { return corrector_; }
  ReturnWatch& returns() { return returns_; }
  const ReturnWatch& returns() const { return returns_; }

 private:
  bool is_recorded(const Entry& entry) const { return entry.what == Entry::What::Function && recording_; }
  void read_arguments(Thread& thread, const Entry& entry, const Registers& registers,
                      std::span<const std::uint64_t> on_stack, OpenCall& call);
  Left returned(Thread& thread, OpenCall call, const Registers& registers, std::int64_t now);
  void take_result(Thread& thread, const Entry& entry, const Registers& registers, OpenCall& call);
  void succeeded(Thread& thread, const Entry& entry, OpenCall& call);
  void follow_device(Thread& thread, const probes::Probe& probe, const OpenCall& call);

  EventSink& sink_;
  const SessionClock& clock_;
  FunctionTable& functions_;
  StackCapture& stacks_;
  ModuleSymbols symbols_;
  CallBook book_;
  CallSites sites_;
  ReturnWatch returns_;
  ArgumentReader arguments_;
  CalledKernels kernels_;
  Corrector corrector_;
  std::vector<Left> left_;  // at the last return
  bool recording_ = true;
};

}  // namespace fade
