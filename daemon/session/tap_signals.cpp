#include "session/tap_signals.hpp"

#include <x86intrin.h>

#include <span>

#include "proc/processes.hpp"
#include "proc/signal_bits.hpp"
#include "ptrace/tracee.hpp"
#include "session/tap_gates.hpp"
#include "session/tappable.hpp"

namespace fade {

// The kernel counts calls and returns of a thread with a shadow stack, so such a thread must make each of them.
void TapSignals::show_own_address(Thread& thread) {
  const auto taps = thread.inferior->program->taps;
  const auto registers = taps && thread.space().taps() ? Tracee(thread.tid).registers() : std::nullopt;
  const bool may_move = registers && (read_signal_sets(thread.tid).pending & kTrapBit) == 0;
  if (may_move && thread.space().taps()->cells().has_gates() && TapGates::show_entry(thread, *registers)) return;
  const auto place = registers ? place_in_tap(thread.space(), *registers) : std::nullopt;
  if (!place || !may_move) return;
  if (place->has_called && has_shadow_stack(thread.tid)) return;
  if (place->stage == tap::Stage::Passing) return show_entry_of_open(*place, thread, *registers);
  const auto thread_pointer = thread.memory().value<std::uint64_t>({registers->fs_base});
  TapThread* const ring = thread_pointer ? taps->at(*thread_pointer) : nullptr;
  Thread* const owner = ring ? roster_.thread(ring->tid) : nullptr;
  if ((ring && !owner) || !Tracee(thread.tid).change_registers(*registers, place->own) || !owner) return;
  drain_.all();
  if (place->is_at_entry()) take_back(*place, *owner, *ring);
  else end_early(*place, *owner, *ring);
}

// The thread has left its tap, and a breakpoint has recorded the call. A call that is not open would count twice.
void TapSignals::show_entry_of_open(const TapPlace& place, Thread& thread, const Registers& registers) {
  if (!thread.calls.of_function(place.cell.entry, place.sp)) return;
  if (Tracee(thread.tid).change_registers(registers, place.own)) show_again(place, thread);
}

// The thread will meet the function's entry again: the same call.
void TapSignals::take_back(const TapPlace& place, Thread& thread, TapThread& ring) {
  if (place.stage == tap::Stage::Reserved) thread.inferior->program->taps->pass_incomplete(ring);
  if (place.stage == tap::Stage::Recorded) show_again(place, thread);
}

// The call is open, if it is recorded. At a gate it may only be counted the next time.
void TapSignals::show_again(const TapPlace& place, Thread& thread) {
  if (place.cell.is_gated()) return records_.withdraw(thread, place.cell, place.sp);
  if (!thread.calls.of_function(place.cell.entry, place.sp)) return;
  const Site* const site = thread.space().find(place.cell.site);
  thread.shown.add(place.cell.site, place.sp - (site ? site->lead.depth : 0));
}

void TapSignals::end_early(const TapPlace& place, Thread& thread, TapThread& ring) {
  if (place.stage != tap::Stage::Left) {
    if (place.stage == tap::Stage::Leaving) thread.inferior->program->taps->pass_incomplete(ring);
    const Entry& entry = functions_[place.cell.entry];
    tap::Record record{.kind = tap::RecordKind::Exit, .tsc = __rdtsc(), .sp = place.sp.value, .result = place.own.rax};
    if (!entry.needs.outs.empty() && place.out && !entry.probe->failed(record.result)) {
      const std::size_t size = out_size(entry.probe->parameters[entry.needs.outs.front()]);
      const auto value = std::as_writable_bytes(std::span(record.out)).first(size);
      if (thread.memory().read(place.out, value) == size) record.kind = tap::RecordKind::ExitWithOut;
    }
    records_.left(thread, ring, record, place.cell);
  }
  records_.take_failed_stack(thread, ring, place.sp, place.own);
}

}  // namespace fade
