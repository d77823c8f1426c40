// Calls that are handed over many at once: their order, and the same calls as records.
#include "base/call_batch.hpp"

#include <gmock/gmock.h>

#include "base/event_queue.hpp"

namespace fade {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

CallId id(std::uint64_t value) { return CallId::of(value); }
SummedLane lane_of(std::uint32_t thread) {
  return {.thread = ThreadId::of(thread), .function = 3, .caller = 4, .parent = 0, .flags = kReturned | kTapped};
}

struct Seen : EventSink {
  std::vector<CallRecord> all;
  std::size_t bytes = 0;
  void call(CallRecord record, std::span<const std::byte> payload) override {
    all.push_back(record);
    bytes += payload.size();
  }
  void notice(Notice) override {}
  std::vector<std::uint64_t> ids() const {
    std::vector<std::uint64_t> out;
    for (const CallRecord& record : all) out.push_back(record.id.value());
    return out;
  }
};

// Calls 1 and 2 summed, 3 a record, 4 and 6 summed.
CallBatch mixed() {
  CallBatch out;
  out.add(id(1), {100, 10, out.lane(lane_of(1))});
  out.add(id(2), {120, 11, out.lane(lane_of(2))});
  out.add({.id = 3, .flags = kReturned}, std::vector<std::byte>(16));
  out.add(id(4), {140, 12, out.lane(lane_of(1))});
  out.add(id(6), {160, 13, out.lane(lane_of(2))});
  return out;
}

TEST(CallBatch, CallsWithIdsInARowAreOneRun) {
  const CallBatch batch = mixed();
  ASSERT_THAT(batch.runs, SizeIs(3));
  EXPECT_EQ(batch.runs[0].size, 2u);
  EXPECT_EQ(batch.runs[1].before_call, 1u);
  EXPECT_EQ(batch.runs[2].first, id(6));
  EXPECT_THAT(batch.lanes, SizeIs(2));
  EXPECT_EQ(batch.size(), 5u);
}

TEST(CallBatch, ASinkWithoutAWayForBatchesGetsEachCallInTurn) {
  Seen seen;
  static_cast<EventSink&>(seen).calls(mixed());
  EXPECT_THAT(seen.ids(), ElementsAre(1, 2, 3, 4, 6));
  EXPECT_EQ(seen.bytes, 16u);
  EXPECT_EQ(seen.all[1].thread, ThreadId::of(2u));
  EXPECT_EQ(seen.all[1].entry_ns, 120);
  EXPECT_EQ(seen.all[1].exit_ns, 131);
  EXPECT_EQ(seen.all[1].flags, kReturned | kTapped);
}

TEST(CallBatch, BatchesThatAreAppendedKeepTheirCalls) {
  Batch whole;
  whole.append(mixed(), 0);
  whole.append(mixed(), 2);
  Seen seen;
  static_cast<EventSink&>(seen).calls(whole);
  EXPECT_THAT(seen.ids(), ElementsAre(1, 2, 3, 4, 6, 1, 2, 3, 4, 6));
  EXPECT_EQ(seen.all[6].thread, ThreadId::of(2u));
  EXPECT_EQ(whole.runs[3].before_notice, 2u);
  EXPECT_EQ(whole.calls[1].payload_at, 16u);
  whole.clear();
  EXPECT_TRUE(whole.empty());
}

TEST(CallBatch, TheQueueKeepsThePlaceAmongCallsAndNotices) {
  EventQueue queue;
  queue.notice(ModuleUnloaded{7});
  queue.call({.id = 9, .flags = kReturned}, {});
  queue.calls(mixed());
  queue.notice(ModuleUnloaded{8});
  EXPECT_EQ(queue.handed_over(), 6u);
  Batch batch;
  ASSERT_TRUE(queue.take(batch, std::chrono::milliseconds(0)));
  EXPECT_EQ(batch.runs[0].before_call, 1u);
  EXPECT_EQ(batch.runs[0].before_notice, 1u);
  EXPECT_EQ(batch.runs[2].before_call, 2u);
  EXPECT_EQ(batch.notices[1].before_call, 2u);
  EXPECT_FALSE(batch.urgent);
}

TEST(CallBatch, AFailedCallAmongManyIsTakenAtOnce) {
  EventQueue queue;
  CallBatch some = mixed();
  some.add({.id = 7, .flags = kReturned | kFailed}, {});
  queue.calls(some);
  Batch batch;
  ASSERT_TRUE(queue.take(batch, std::chrono::hours(1)));
  EXPECT_TRUE(batch.urgent);
}

TEST(CallBatch, AStallThatLastsRefusesAllOfThem) {
  EventQueue queue({.calls = 1});
  queue.stall(std::chrono::nanoseconds(0));
  for (int i = 0; i < 4; ++i) queue.call({.id = 1, .flags = kReturned}, {});
  queue.calls(mixed());
  EXPECT_EQ(queue.refused(), 5u);
  EXPECT_EQ(queue.handed_over(), 9u);
  queue.discard();
  queue.calls(mixed());
  Batch batch;
  queue.take(batch, std::chrono::milliseconds(0));
  EXPECT_THAT(batch.summed, IsEmpty());
  EXPECT_EQ(queue.handed_over(), 14u);
}

}  // namespace
}  // namespace fade
