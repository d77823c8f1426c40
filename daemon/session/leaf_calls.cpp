#include "session/leaf_calls.hpp"

#include <algorithm>

namespace fade {

LeafCalls::LeafCalls(const Parts& parts)
    : functions_(parts.functions),
      book_(parts.books.book),
      sites_(parts.books.sites),
      effects_(parts.effects),
      kernels_(parts.kernels) {}

// A function that sets the device of its thread takes the long way, and one that gives a place in a queue of a GPU.
LeafCalls::Known& LeafCalls::known(const Thread& thread, std::uint16_t number) {
  Known& known = known_[number % kKnown];
  const Program* const program = thread.inferior->program.get();
  if (known.round == round_ && known.program == program && known.number == number) return known;
  known = {.round = round_, .program = program, .number = number};
  TapArea* const area = thread.space().taps();
  TapArea::Cell* const cell = area ? area->numbered(number) : nullptr;
  if (!cell || functions_[cell->entry].needs.device || functions_[cell->entry].needs.hsa == probes::HsaCall::Packet)
    return known;
  known.cell = cell;
  known.entry = &functions_[cell->entry];
  known.code = area->code();
  return known;
}

// The stack of a failed call is still to come.
bool LeafCalls::can_take(const Thread& thread, const TapThread& ring, const Known& function, const tap::Record& entry,
                         const tap::Record& exit) const {
  return function.cell && entry.sp == exit.sp && thread.shown.size() == 0 && ring.stacks.empty() &&
         CallBook::is_innermost(thread, {entry.sp}) && !function.code.contains({entry.return_address}) &&
         !function.entry->probe->failed(exit.result);
}

bool LeafCalls::take(Thread& thread, TapThread& ring, const tap::Record& entry, const tap::Record& exit,
                     const tap::TscClock& clock) {
  if (entry.function != exit.function) return false;
  Known& known = this->known(thread, entry.function);
  if (!can_take(thread, ring, known, entry, exit)) return false;
  const Entry& function = *known.entry;
  known.cell->last_call = exit.tsc;
  ring.sampling.began();
  CallEffects::began(thread, function);
  const std::uint16_t detail = known.cell->sums_only ? kSumsOnly : 0;
  CallRecord record{.result = exit.result,
                    .words = entry.registers,
                    .function = function.function,
                    .thread = thread.id,
                    .caller = caller_of(thread, known, {entry.return_address}),
                    .flags = static_cast<std::uint16_t>(kTapped | kReturned | detail)};
  const probes::Payload payload = payload_of(function, entry, exit);
  book_.number(thread, record);
  if (function.needs.kernel_names) kernels_.name(thread, *function.probe, record, payload);
  record.entry_ns = book_.entry_time(clock.at(entry.tsc));
  record.exit_ns = std::max(clock.at(exit.tsc), record.entry_ns);
  effects_.ended(thread, function, {.result = exit.result, .table = {}});
  book_.complete(record, payload);
  return true;
}

CallSiteId LeafCalls::caller_of(const Thread& thread, Known& function, RemoteAddr return_address) {
  if (function.return_address == return_address) return function.caller;
  function.return_address = return_address;
  return function.caller = sites_.of(thread, return_address).id;
}

probes::Payload LeafCalls::payload_of(const Entry& function, const tap::Record& entry, const tap::Record& exit) {
  payload_.clear();
  append_tap_pieces(payload_, function, entry);
  append_tap_pieces(payload_, function, exit);
  return payload_;
}

void append_tap_pieces(std::vector<std::byte>& payload, const Entry& function, const tap::Record& record) {
  if (const std::size_t words = function.needs.stack_words; record.kind == tap::RecordKind::Entry && words > 0)
    append_piece(payload, {.kind = PieceKind::Stack}, std::as_bytes(std::span(record.stack).first(words)));
  if (record.kind != tap::RecordKind::ExitWithOut) return;
  const std::uint8_t index = function.needs.outs.front();
  const std::size_t size = function.probe->parameters[index].pointee.size;
  append_piece(payload, {.kind = PieceKind::Out, .param = index}, std::as_bytes(std::span(&record.out, 1)).first(size));
}

}  // namespace fade
