#include "base/call_batch.hpp"

#include <algorithm>

namespace fade {

void CallBatch::clear() {
  calls.clear();
  payload.clear();
  lanes.clear();
  summed.clear();
  runs.clear();
}

void CallBatch::add(const CallRecord& record, std::span<const std::byte> bytes) {
  CallRecord& kept = calls.emplace_back(record);
  kept.payload_at = static_cast<std::uint32_t>(payload.size());
  kept.payload_size = static_cast<std::uint32_t>(bytes.size());
  payload.insert(payload.end(), bytes.begin(), bytes.end());
}

std::uint32_t CallBatch::lane(const SummedLane& lane, std::span<const std::byte> bytes) {
  constexpr std::size_t kRecent = 8;
  const std::span<const std::byte> all(payload);
  for (std::size_t i = lanes.size(); i > 0 && i + kRecent > lanes.size(); --i)
    if (const SummedLane& known = lanes[i - 1];
        known.is_like(lane) && std::ranges::equal(all.subspan(known.payload_at, known.payload_size), bytes))
      return static_cast<std::uint32_t>(i - 1);
  SummedLane& kept = lanes.emplace_back(lane);
  kept.payload_at = static_cast<std::uint32_t>(payload.size());
  kept.payload_size = static_cast<std::uint32_t>(bytes.size());
  payload.insert(payload.end(), bytes.begin(), bytes.end());
  return static_cast<std::uint32_t>(lanes.size() - 1);
}

void CallBatch::append(const CallBatch& other, std::size_t notices) {
  const auto payload_at = static_cast<std::uint32_t>(payload.size());
  const auto lane_at = static_cast<std::uint32_t>(lanes.size()), summed_at = static_cast<std::uint32_t>(summed.size());
  const std::size_t call_at = calls.size(), run_at = runs.size();
  calls.insert(calls.end(), other.calls.begin(), other.calls.end());
  payload.insert(payload.end(), other.payload.begin(), other.payload.end());
  lanes.insert(lanes.end(), other.lanes.begin(), other.lanes.end());
  summed.insert(summed.end(), other.summed.begin(), other.summed.end());
  runs.insert(runs.end(), other.runs.begin(), other.runs.end());
  for (CallRecord& call : std::span(calls).subspan(call_at)) call.payload_at += payload_at;
  for (SummedLane& lane : std::span(lanes).subspan(lane_at)) lane.payload_at += payload_at;
  for (SummedCall& call : std::span(summed).subspan(summed_at)) call.lane += lane_at;
  for (SummedRun& run : std::span(runs).subspan(run_at)) {
    run.begin += summed_at;
    run.before_call += call_at;
    run.before_notice = notices;
  }
}

CallRecord CallBatch::record_of(const SummedRun& run, std::uint32_t index) const {
  const SummedCall& call = summed[run.begin + index];
  const SummedLane& lane = lanes[call.lane];
  return {.id = CallId::of(run.first.value() + index),
          .parent = lane.parent,
          .entry_ns = call.entry_ns,
          .exit_ns = call.entry_ns + call.ns,
          .words = lane.words,
          .function = lane.function,
          .thread = lane.thread,
          .caller = lane.caller,
          .flags = lane.flags};
}

void EventSink::calls(const CallBatch& batch) {
  const std::span<const std::byte> payload(batch.payload);
  std::size_t next = 0;
  for (std::size_t i = 0; i <= batch.calls.size(); ++i) {
    for (; next < batch.runs.size() && batch.runs[next].before_call <= i; ++next)
      for (std::uint32_t k = 0; k < batch.runs[next].size; ++k)
        call(batch.record_of(batch.runs[next], k), batch.payload_of(batch.runs[next], k));
    if (i == batch.calls.size()) break;
    const CallRecord& record = batch.calls[i];
    call(record, payload.subspan(record.payload_at, record.payload_size));
  }
}

}  // namespace fade
