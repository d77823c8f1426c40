// Recorder: calls of which only sums are kept (SummedCall).
#include <algorithm>

#include "store/recorder.hpp"

namespace fade::store {

// False: the call is recorded as any other. While a graph is captured, or times of the GPU are read, calls of functions
// with a book are not alike.
bool Recorder::is_sum_enough(const Lane& lane, const CallRecord& record) const {
  const bool is_alike = lane.function->is_only_summed || (!books_.graphs.capturing() && !books_.gpu.is_watched());
  return is_alike && record.parent == 0 && !books_.steps.has_rule() && !families_.memory.waits_for_outer() &&
         (!rows_.are_wanted() || (record.flags & kSumsOnly) != 0 || lane.function->detail == Detail::Stats);
}

// The tracing thread learns of times of detail a little late. A call without a record lacks arguments, so it has no
// row.
CallRecord Recorder::without_row(CallRecord record) {
  if (!books_.detail.is_on() || !rows_.are_wanted()) return record;
  late_ += (record.flags & kSumsOnly) == 0;
  record.flags |= kSumsOnly;
  return record;
}

// Calls of one lane are recorded together.
void Recorder::summed(const CallBatch& batch, const SummedRun& run) {
  const auto calls = batch.calls_of(run);
  for (std::uint32_t i = 0, n = 0; i < run.size; i += n) {
    for (n = 1; i + n < run.size && calls[i + n].lane == calls[i].lane;) ++n;
    const CallRecord first = batch.record_of(run, i);
    follow_detail(first.exit_ns);
    Lane* const lane = books_.keep.sums ? lanes_.of(first) : nullptr;
    const std::span<const std::byte> payload = batch.payload_of(run, i);
    if (lane && is_sum_enough(*lane, first)) {
      const FunctionEntry& function = *lane->function;
      summed(calls.subspan(i, n), {*function.probe, first, payload, function.library_major}, *lane);
    } else {
      for (std::uint32_t k = i; k < i + n; ++k) call(without_row(batch.record_of(run, k)), payload);
    }
  }
}

std::size_t Recorder::in_same_second(std::span<const SummedCall> calls) {
  if (!books_.keep.timeline) return calls.size();
  const std::int64_t sec = second_.of(calls.front().entry_ns);
  std::size_t n = 1;
  while (n < calls.size() && second_.of(calls[n].entry_ns) == sec) ++n;
  second_.of(calls.front().entry_ns);
  return n;
}

void Recorder::end_summed(std::span<const SummedCall> calls, const CallRecord& first, const Lane& lane) {
  const std::size_t shown = std::min(calls.size(), PostmortemBook::kLast);
  CallRow row = books_.directory.call_row(first.id);
  for (std::size_t i = 0; i < calls.size(); ++i, ++row) {
    const std::int64_t at = calls[i].entry_ns, end = at + calls[i].ns;
    if (lane.idle) IdleBook::call(*lane.idle, {row, at, end});
    if (i + shown >= calls.size()) lane.last->left({row, lane.function->row, at, end, 0, true});
    tally_.last_ns = std::max(tally_.last_ns, end);
    tally_.last_id = std::max(tally_.last_id, row);
  }
  for (std::uint64_t* const count : {&tally_.applied, &tally_.calls, &tally_.tapped}) *count += calls.size();
}

// What record() does for the function's family. The first call is recorded as any other; the rest counts like it.
// Returns the number of kernels that were launched.
std::uint64_t Recorder::record_family(std::span<const SummedCall> calls, CallId id, const CallView& like,
                                      const Lane& lane) {
  CallRecord record = like.record;
  record.id = id;
  record.entry_ns = calls.front().entry_ns;
  record.exit_ns = record.entry_ns + calls.front().ns;
  const CallView view{like.probe, record, like.payload, like.library_major};
  RecordedCall call = recorded(view, lane);
  const std::int64_t cost = books_.rollups.cost_of_tapped();
  call.ns = calls.front().ns - cost;
  families_.record(call, lanes_.told());
  const AlikeCalls all{calls, call.call, cost};
  if (calls.size() > 1) families_.more(call, all.without_first());
  if (call.function.waits)
    books_.waits.calls(call.process, call.function.row, books_.directory.site_row(record.caller), all);
  const std::uint64_t launched = call.launched * calls.size();
  if (launched > 0) books_.copies.launch(call.process, launched);
  return launched;
}

// As record(), for what is left of it for such calls.
void Recorder::summed(std::span<const SummedCall> calls, const CallView& like, Lane& lane) {
  const CallRecord& first = like.record;
  if (const LibraryId library = books_.directory.library_of(first.caller); library != lane.library)
    lanes_.come_from(lane, library);
  end_summed(calls, first, lane);
  CallId id = first.id;
  while (!calls.empty()) {
    const auto part = calls.first(in_same_second(calls));
    const CallRow row = books_.directory.call_row(id);
    const std::int64_t ns = books_.rollups.summed(lane.sums, row, second_.last(), part);
    lane.from_library->add(ns, ns, false, part.size());
    books_.uses.call(*lane.use, {.at = part.front().entry_ns,
                                 .last = part.back().entry_ns,
                                 .sec = second_.last(),
                                 .launches = lane.function->is_only_summed ? 0 : record_family(part, id, like, lane),
                                 .calls = part.size()});
    id = CallId::of(id.value() + part.size());
    calls = calls.subspan(part.size());
  }
}

}  // namespace fade::store
