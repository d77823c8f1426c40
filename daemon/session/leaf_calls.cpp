#include "session/leaf_calls.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <span>

#include "session/tappable.hpp"

namespace fade {

namespace {

constexpr std::uint64_t kAllowAfter = 16 << 10;  // bytes; the word of the limit is in the cache of the program's core

probes::SummedWords::Places places_of(const tap::Record& entry, const tap::Record& exit) {
  const auto bytes = [](const auto& words) { return std::as_bytes(std::span(words)).data(); };
  const bool has_out = exit.kind == tap::RecordKind::ExitWithOut;
  return {bytes(entry.registers), bytes(entry.stack),
          has_out ? std::as_bytes(std::span(&exit.out, 1)).data() : nullptr};
}

bool is_sum_enough(std::uint64_t result, std::int64_t ns) {
  return static_cast<std::uint32_t>(result) == 0 && ns <= std::numeric_limits<std::uint32_t>::max();
}

}  // namespace

LeafCalls::LeafCalls(const Parts& parts)
    : functions_(parts.functions),
      book_(parts.books.book),
      sites_(parts.books.sites),
      effects_(parts.effects),
      kernels_(parts.kernels),
      usual_(parts.summed),
      summed_(parts.summed) {}

// A function that sets the device of its thread takes the long way, and so do all functions of HSA.
LeafCalls::Known& LeafCalls::known(const Thread& thread, std::uint16_t number) {
  Known& known = known_[number % kKnown];
  const Program* const program = thread.inferior->program.get();
  if (known.round == round_ && known.program == program && known.number == number) return known;
  known = {.round = round_, .program = program, .number = number};
  TapArea* const area = thread.space().taps();
  TapCell* const cell = area ? area->cells().numbered(number) : nullptr;
  if (!cell || functions_[cell->entry].needs.device || functions_[cell->entry].needs.hsa != probes::HsaCall::None)
    return known;
  known.cell = cell;
  known.entry = &functions_[cell->entry];
  known.code = area->code();
  known.summed = summed_words(known);
  return known;
}

const probes::SummedWords* LeafCalls::summed_words(const Known& function) {
  const bool has_rows = !function.cell->sums_only && !function.entry->needs.sums_only;
  if (summed_ == SummedCalls::Never || (summed_ == SummedCalls::OfBudget && has_rows)) return nullptr;
  const auto [entry, is_new] = summed_words_.try_emplace(function.entry->function);
  if (is_new) entry->second = probes::SummedWords::of(*function.entry->probe);
  return entry->second ? &*entry->second : nullptr;
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
  count(known, ring, exit.tsc);
  tell(thread, known, exit.result);
  const std::int64_t entry_ns = book_.entry_time(clock.at(entry.tsc));
  const std::int64_t exit_ns = std::max(clock.at(exit.tsc), entry_ns);
  const CallSiteId caller = caller_of(thread, known, {entry.return_address});
  if (known.summed && is_sum_enough(exit.result, exit_ns - entry_ns) &&
      lane_of(thread, known, places_of(entry, exit))) {
    book_.sum(known.last.lane, entry_ns, static_cast<std::uint32_t>(exit_ns - entry_ns));
    return true;
  }
  const Entry& function = *known.entry;
  CallRecord record{.entry_ns = entry_ns,
                    .exit_ns = exit_ns,
                    .result = exit.result,
                    .words = entry.registers,
                    .function = function.function,
                    .thread = thread.id,
                    .caller = caller,
                    .flags = flags_of(known)};
  const probes::Payload payload = payload_of(function, entry, exit);
  book_.number(thread, record);
  if (function.needs.kernel_names) kernels_.name(thread, *function.probe, record, payload);
  book_.complete(record, payload);
  return true;
}

void LeafCalls::count(Known& function, TapThread& ring, std::uint64_t tsc) {
  function.cell->last_call = tsc;
  ++function.cell->recorded;
  ++ring.recorded;
  ring.sampling.began();
}

// Within a round nothing but calls happens in the session.
void LeafCalls::tell(Thread& thread, Known& function, std::uint64_t result) {
  if (function.told == &thread && function.told_result == result) return;
  function.told = &thread;
  function.told_result = result;
  CallEffects::began(thread, *function.entry);
  effects_.ended(thread, *function.entry, {.result = result, .table = {}});
}

std::uint16_t LeafCalls::flags_of(const Known& function) {
  const bool sums_only = function.cell->sums_only || function.entry->needs.sums_only;
  return static_cast<std::uint16_t>(kTapped | kReturned | (sums_only ? kSumsOnly : 0));
}

// ---------------------------------------------------------------- calls of which only sums are kept

bool LeafCalls::can_sum(const Thread& thread, Known& function, const tap::RecordPair& pair) {
  if (function.return_address != RemoteAddr{pair.return_address} && function.code.contains({pair.return_address}))
    return false;
  caller_of(thread, function, {pair.return_address});
  return pair.sp == pair.exit_sp && CallBook::is_innermost(thread, {pair.sp}) && is_sum_enough(pair.result, 0);
}

// At most the bytes of one ring: the program may go on writing old times.
void LeafCalls::take_summed(Thread& thread, TapThreads& program, TapThread& ring, Bounds until,
                            const tap::TscClock& clock) {
  if (summed_ == SummedCalls::Never || thread.shown.size() > 0 || !ring.stacks.empty()) return;
  const auto memory = program.memory(ring);
  std::uint64_t allowed = ring.reader.position();
  const std::uint64_t end = allowed + until.bytes;
  tap::RecordPair pair;
  while (ring.reader.position() < end && ring.reader.next_pair(memory, pair) && pair.exit_tsc <= until.tsc) {
    Known& function = known(thread, pair.function);
    if (!function.summed || !can_sum(thread, function, pair) || !sum(thread, ring, function, pair, clock)) break;
    ring.reader.pass(pair);
    if (ring.reader.position() - allowed < kAllowAfter) continue;
    program.allow(ring);
    allowed = ring.reader.position();
  }
  program.allow(ring);
}

// As TapThreads::read(), no record is earlier than the one before it. False: the call has lasted too long, or lacks its
// output.
bool LeafCalls::sum(Thread& thread, TapThread& ring, Known& function, const tap::RecordPair& pair,
                    const tap::TscClock& clock) {
  const std::uint64_t entry_tsc = std::max(ring.last_tsc, std::min(pair.entry_tsc, pair.exit_tsc));
  const std::uint64_t exit_tsc = std::max(entry_tsc, pair.exit_tsc);
  const std::int64_t entry_ns = book_.entry_time(clock.at(entry_tsc));
  const std::int64_t exit_ns = std::max(clock.at(exit_tsc), entry_ns);
  if (!is_sum_enough(0, exit_ns - entry_ns) || !lane_of(thread, function, {pair.registers, pair.stack, pair.out}))
    return false;
  ring.last_tsc = exit_tsc;
  count(function, ring, exit_tsc);
  tell(thread, function, pair.result);
  book_.sum(function.last.lane, entry_ns, static_cast<std::uint32_t>(exit_ns - entry_ns));
  return true;
}

// Sets the lane of the function's last call. False: the call lacks its output.
bool LeafCalls::lane_of(const Thread& thread, Known& function, const probes::SummedWords::Places& call) {
  return (is_in(function.last, thread, function) && function.summed->are(function.last.words, call)) ||
         look_up_lane(thread, function, call);
}

bool LeafCalls::look_up_lane(const Thread& thread, Known& function, const probes::SummedWords::Places& call) {
  Values words{};
  if (!function.summed->read(call, words)) return false;
  RecentLane& known = recent(thread, function, words);
  if (!is_in(known, thread, function) || known.words != words)
    known = {.round = round_,
             .flush = book_.flushes(),
             .thread = &thread,
             .function = function.entry->function,
             .caller = function.caller,
             .parent = thread.calls.innermost(),
             .lane = new_lane(thread, function, words),
             .words = words};
  function.last = known;
  return true;
}

bool LeafCalls::is_in(const RecentLane& lane, const Thread& thread, const Known& function) const {
  return lane.round == round_ && lane.flush == book_.flushes() && lane.thread == &thread &&
         lane.function == function.entry->function && lane.caller == function.caller &&
         lane.parent == thread.calls.innermost();
}

LeafCalls::RecentLane& LeafCalls::recent(const Thread& thread, const Known& function, const Values& words) {
  std::uint64_t hash = std::uint64_t{function.entry->function.value()} << 32 ^ function.caller.value() ^
                       std::uint64_t{thread.id.value()} << 48 ^ thread.calls.innermost().value();
  for (std::size_t i = 0; i < function.summed->size(); ++i) hash = std::rotl(hash, 9) ^ words[i];
  return recent_[hash * 0x9E3779B97F4A7C15u >> (64 - kRecentBits)];
}

// Kernels get their names at the first of their launches in a round.
std::uint32_t LeafCalls::new_lane(const Thread& thread, const Known& function, const Values& words) {
  CallRecord like{.function = function.entry->function, .thread = thread.id, .caller = function.caller};
  payload_.clear();
  function.summed->write(words, like, payload_);
  if (function.entry->needs.kernel_names) kernels_.name(thread, *function.entry->probe, like, payload_);
  return book_.lane({.thread = like.thread,
                     .function = like.function,
                     .caller = like.caller,
                     .parent = thread.calls.innermost(),
                     .flags = flags_of(function),
                     .words = like.words},
                    payload_);
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
  const std::size_t size = out_size(function.probe->parameters[index]);
  append_piece(payload, {.kind = PieceKind::Out, .param = index}, std::as_bytes(std::span(record.out)).first(size));
}

}  // namespace fade
