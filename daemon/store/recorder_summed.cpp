// Recorder: calls of which only sums are kept (SummedCall).
#include <algorithm>

#include "store/recorder.hpp"

namespace fade::store {

// False: the call is recorded as any other.
bool Recorder::is_sum_enough(const Lane& lane, const CallRecord& record) const {
  const FunctionEntry& function = *lane.function;
  return function.is_only_summed && record.parent == 0 && !function.waits && !books_.steps.has_rule() &&
         !families_.memory.waits_for_outer() && (!rows_.are_wanted() || (record.flags & kSumsOnly) != 0);
}

// Calls of one lane are recorded together.
void Recorder::summed(const CallBatch& batch, const SummedRun& run) {
  const auto calls = batch.calls_of(run);
  for (std::uint32_t i = 0, n = 0; i < run.size; i += n) {
    for (n = 1; i + n < run.size && calls[i + n].lane == calls[i].lane;) ++n;
    const CallRecord first = batch.record_of(run, i);
    Lane* const lane = books_.keep.sums ? lanes_.of(first) : nullptr;
    if (lane && is_sum_enough(*lane, first)) summed(calls.subspan(i, n), first, *lane);
    else
      for (std::uint32_t k = i; k < i + n; ++k) call(batch.record_of(run, k), {});
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

// As record(), for what is left of it for such calls.
void Recorder::summed(std::span<const SummedCall> calls, const CallRecord& first, Lane& lane) {
  if (const LibraryId library = books_.directory.library_of(first.caller); library != lane.library)
    lanes_.come_from(lane, library);
  end_summed(calls, first, lane);
  CallId id = first.id;
  while (!calls.empty()) {
    const auto part = calls.first(in_same_second(calls));
    const CallRow row = books_.directory.call_row(id);
    const std::int64_t ns = books_.rollups.summed(lane.sums, row, second_.last(), part);
    lane.from_library->add(ns, ns, false, part.size());
    books_.uses.call(*lane.use, {.sec = second_.last(), .calls = part.size()});
    id = CallId::of(id.value() + part.size());
    calls = calls.subspan(part.size());
  }
}

}  // namespace fade::store
