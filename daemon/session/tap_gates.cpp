#include "session/tap_gates.hpp"

#include <x86intrin.h>

#include "ptrace/tracee.hpp"
#include "session/tap_place.hpp"

namespace fade {
namespace {

// A thread that goes through a gate, and not through the tap.
struct Passing {
  const TapCell* cell = nullptr;  // null: it does not
  bool is_counted = false;
  RemoteAddr sp;  // at the entry of the function
};

// A thread at the function's moved instructions comes from a gate, or was called by a tap. The call of a thread that
// has left its tap is open.
Passing at_function(const Thread& thread, const Registers& registers) {
  const MovedEntry moved = moved_entry(thread.space(), registers);
  const bool is_passing = moved.cell && moved.cell->is_gated() &&
                          !thread.space().taps()->code().contains(moved.return_address) &&
                          !thread.calls.has_frame_at(moved.sp);
  return is_passing ? Passing{moved.cell, true, moved.sp} : Passing{};
}

Passing find_passing(const Thread& thread, const Registers& registers) {
  const TapCell* const cell = thread.space().taps()->cells().behind_gate(registers.ip());
  if (!cell) return at_function(thread, registers);
  const Site* const site = thread.space().find(cell->site);
  if (!site) return {};
  return {cell, cell->gate->code.has_counted(registers.ip()), registers.sp() + site->lead.depth};
}

}  // namespace

void TapGates::count(bool recording) {
  for (const auto& [tid, thread] : roster_.threads()) {
    const auto& taps = thread->inferior->program->taps;
    TapThread* const ring = taps ? taps->of(thread->id) : nullptr;
    if (ring) count(*thread, *taps, *ring, recording);
  }
}

void TapGates::count(const Thread& thread, TapThreads& taps, TapThread& ring, bool recording) {
  TapArea* const area = thread.space().taps();
  if (!area || !area->cells().has_gates()) return;
  for (TapCell& cell : area->cells().all()) {
    if (cell.entry == 0 || !cell.gate) continue;
    const auto calls = taps.counted_since(ring, cell.gate->number);
    if (!calls) lose(thread);
    if (calls.value_or(0) == 0) continue;
    cell.last_call = __rdtsc();
    cell.counted += *calls;
    if (recording) sink_.notice(CallsCounted{thread.id, functions_[cell.entry].function, clock_.now(), *calls});
  }
}

void TapGates::lose(const Thread&) {
  sink_.notice(Drop{.at = clock_.now(), .n = 1, .reason = "the program has written over fade's count of calls"});
}

bool TapGates::show_entry(Thread& thread, const Registers& met) {
  const Registers registers = thread.space().our_code().at_begin_of_slot(met);
  const auto [cell, is_counted, sp] = find_passing(thread, registers);
  if (!cell) return false;
  Registers own = registers;
  own.rip = cell->function.value;
  own.rsp = sp.value;
  const auto& taps = thread.inferior->program->taps;
  const auto thread_pointer = thread.memory().value<std::uint64_t>({registers.fs_base});
  TapThread* const ring = taps && thread_pointer ? taps->at(*thread_pointer) : nullptr;
  if (!Tracee(thread.tid).change_registers(met, own)) return false;
  if (ring && is_counted) TapThreads::take_back(*ring, cell->gate->number);
  return true;
}

}  // namespace fade
