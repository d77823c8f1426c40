// Complete calls on their way to the storing side, many at once. Most are records; of some only sums are kept, and
// those need no record each (SummedCall). Passive.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "base/event.hpp"

namespace fade {

// The common part of calls of which only sums are kept. Each of them was tapped, succeeded with a result of 0, has no
// stack, and no watched call inside. Of its arguments, all that matters is here (probes::SummedWords).
struct SummedLane {
  ThreadId thread = 0;
  FunctionId function = 0;
  CallSiteId caller = 0;
  CallId parent = 0;
  std::uint16_t flags = 0;  // of CallRecord
  std::array<std::uint64_t, 6> words{};
  std::uint32_t payload_at = 0, payload_size = 0;  // as in CallRecord

  bool is_like(const SummedLane& other) const {
    return thread == other.thread && function == other.function && caller == other.caller && parent == other.parent &&
           flags == other.flags && words == other.words;
  }
};

struct SummedCall {
  std::int64_t entry_ns = 0;
  std::uint32_t ns = 0;    // from entry to exit
  std::uint32_t lane = 0;  // index in the batch
};
static_assert(sizeof(SummedCall) == 16);

// Calls in a row, with ids in a row.
struct SummedRun {
  CallId first = 0;                   // id of the first one
  std::uint32_t begin = 0, size = 0;  // indexes of SummedCalls
  std::size_t before_call = 0;        // index of the first record after them
  std::size_t before_notice = 0;      // of a Batch: index of the first notice after them

  bool goes_on(CallId id, std::size_t next_call) const {
    return before_call == next_call && first.value() + size == id.value();
  }
};

struct CallBatch {
  std::vector<CallRecord> calls;
  std::vector<std::byte> payload;
  std::vector<SummedLane> lanes;
  std::vector<SummedCall> summed;
  std::vector<SummedRun> runs;

  std::size_t size() const { return calls.size() + summed.size(); }
  void clear();
  // Sets the place of the payload in the record.
  void add(const CallRecord& record, std::span<const std::byte> bytes);
  // The number of the lane for add(). One of the last few is used again if it is the same. Sets the place of `bytes`,
  // the pieces of each of its calls.
  std::uint32_t lane(const SummedLane& lane, std::span<const std::byte> bytes = {});
  void add(CallId id, const SummedCall& call) {
    if (runs.empty() || !runs.back().goes_on(id, calls.size()))
      runs.push_back({.first = id, .begin = static_cast<std::uint32_t>(summed.size()), .before_call = calls.size()});
    ++runs.back().size;
    summed.push_back(call);
  }
  // Adds the calls of `other` behind these, and behind so many notices.
  void append(const CallBatch& other, std::size_t notices);
  // The same call as a record. `index`: of a call in the run.
  CallRecord record_of(const SummedRun& run, std::uint32_t index) const;
  std::span<const std::byte> payload_of(const SummedRun& run, std::uint32_t index) const {
    const SummedLane& lane = lanes[summed[run.begin + index].lane];
    return std::span(payload).subspan(lane.payload_at, lane.payload_size);
  }
  std::span<const SummedCall> calls_of(const SummedRun& run) const {
    return std::span(summed).subspan(run.begin, run.size);
  }
};

}  // namespace fade
