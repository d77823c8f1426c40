#include "session/breakpoint_capture.hpp"

#include "ptrace/tracee.hpp"
#include "session/code_images.hpp"
#include "session/thread_stack.hpp"

namespace fade {

BreakpointCapture::BreakpointCapture(EventSink& sink, const SessionClock& clock, FunctionTable& functions,
                                     const probes::Overrides& overrides, StackCapture& stacks,
                                     std::size_t most_call_sites)
    : sink_(sink),
      clock_(clock),
      functions_(functions),
      stacks_(stacks),
      book_(sink, clock, stack_of),
      sites_(sink, symbols_, most_call_sites),
      returns_(sink, clock, sites_),
      kernels_(sink, functions, symbols_),
      corrector_(sink, clock, overrides) {}

void BreakpointCapture::enter(Thread& thread, std::uint32_t index, const Registers& registers,
                              std::span<const std::uint64_t> on_stack, std::int64_t now) {
  const Entry& entry = functions_[index];
  book_.arrive(thread, index, registers.sp(), on_stack, thread.memory());
  if (!is_recorded(entry) && !entry.is_always_needed()) return;
  OpenCall call{.sp = registers.sp(), .entry = index};
  call.record.words = registers.argument_words();
  call.record.function = entry.function;
  call.record.thread = thread.id;
  read_arguments(thread, entry, registers, on_stack, call);
  CallSite& site = sites_.of(thread, call.return_address);
  call.record.caller = site.id;
  if (is_recorded(entry) && stacks_.policy().wants(*entry.probe, entry.function, site.id))
    call.record.stack = stacks_.at_entry(thread, registers, call.return_address);
  if (!entry.needs.result || !returns_.watch(thread, site, call.return_address)) {
    call.record.entry_ns = clock_.now();
    return book_.close(std::move(call), entry.needs.result ? kUnseen : kEntryOnly);
  }
  CallRecord& record = book_.open(thread, std::move(call));
  record.entry_ns = clock_.now();  // fade's own work until now is not the call's time
  record.held_ns = held_time(record.entry_ns - now);
}

// A recorded call is read in whole, any other call with its registers, stack words and return address. The stack that a
// policy wants of every call is read together with the arguments.
void BreakpointCapture::read_arguments(Thread& thread, const Entry& entry, const Registers& registers,
                                       std::span<const std::uint64_t> on_stack, OpenCall& call) {
  const bool with_stack = is_recorded(entry) && stacks_.policy().wants_every(*entry.probe);
  const Memory& memory = with_stack ? stacks_.look(thread, registers) : thread.memory();
  call.return_address = ArgumentReader::read_entry(entry, registers, on_stack, thread.tid, memory, call);
  if (!is_recorded(entry)) return;
  book_.number(thread, call.record);
  arguments_.read_inputs(entry, thread.memory(), call);
  if (entry.needs.kernel_names) kernels_.name(thread, *entry.probe, call);
}

std::span<const BreakpointCapture::Left> BreakpointCapture::leave(Thread& thread, const Registers& registers,
                                                                  RemoteAddr return_address, std::int64_t now) {
  left_.clear();
  for (OpenCall& call : book_.take_returned(thread, return_address, registers.sp() - 8, thread.memory()))
    left_.push_back(returned(thread, std::move(call), registers, now));
  return left_;
}

BreakpointCapture::Left BreakpointCapture::returned(Thread& thread, OpenCall call, const Registers& registers,
                                                    std::int64_t now) {
  const Entry& entry = functions_[call.entry];
  if (entry.what != Entry::What::Function)
    return {.entry = call.entry, .result = registers.result(), .is_resolver = true, .table = {}};
  call.record.exit_ns = now;
  take_result(thread, entry, registers, call);
  arguments_.read_outputs(entry, thread.memory(), call);
  Left left{.entry = call.entry, .result = registers.result(), .is_resolver = false, .table = {}};
  if (!(call.record.flags & kFailed)) {
    succeeded(thread, entry, call);
    if (entry.needs.table) left.table = table_given(*entry.probe, call.record, call.payload);
  }
  book_.complete(std::move(call));
  return left;
}

// The frames of the caller are unchanged since the call, so a failed call gets its stack now.
void BreakpointCapture::take_result(Thread& thread, const Entry& entry, const Registers& registers, OpenCall& call) {
  CallRecord& record = call.record;
  record.result = registers.result();
  if (entry.needs.sse_result)
    if (const auto sse = Tracee(thread.tid).sse_words()) record.result = (*sse)[0];
  record.flags |= kReturned;
  if (!entry.probe->failed(record.result)) return;
  record.flags |= kFailed;
  if (record.id != 0 && record.stack == 0 && stacks_.policy().wants_failed())
    record.stack = stacks_.at_return(thread, registers, call.return_address);
}

void BreakpointCapture::succeeded(Thread& thread, const Entry& entry, OpenCall& call) {
  corrector_.correct(thread, entry, call);
  if (entry.needs.device) follow_device(thread, *entry.probe, call);
  if (entry.needs.code_object) read_code_image(thread, *entry.probe, call);
}

void BreakpointCapture::follow_device(Thread& thread, const probes::Probe& probe, const OpenCall& call) {
  const probes::Parameter* device = probe.with_role(probes::Role::Device);
  if (!device) return;
  thread.device = static_cast<int>(argument(probe, *device, call));
  if (call.record.id == 0) sink_.notice(DeviceSet{thread.id, thread.device});
}

}  // namespace fade
