#include "base/event_queue.hpp"

#include <gmock/gmock.h>

#include <functional>
#include <future>
#include <thread>

namespace fade {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::SizeIs;

constexpr milliseconds kNow{0};
constexpr hours kForEver{1};  // nothing here waits that long: it would hang

CallRecord record(CallId id, std::uint16_t flags = kReturned) { return {.id = id, .flags = flags}; }
std::vector<std::uint64_t> ids(const Batch& batch) {
  std::vector<std::uint64_t> out;
  for (const auto& call : batch.calls) out.push_back(call.id.value());
  return out;
}
std::vector<std::byte> bytes(std::size_t n, int value = 0) { return std::vector<std::byte>(n, std::byte(value)); }

TEST(EventQueue, KeepsOrderPayloadAndThePlaceOfNotices) {
  EventQueue queue;
  queue.call(record(1), bytes(8, 1));
  queue.notice(ModuleUnloaded{7});
  queue.call(record(2), bytes(16, 2));
  queue.notice(ModuleUnloaded{8});
  Batch batch;
  EXPECT_TRUE(queue.take(batch, kNow));
  EXPECT_THAT(ids(batch), ElementsAre(1, 2));
  EXPECT_EQ(batch.calls[1].payload_at, 8u);
  EXPECT_EQ(batch.calls[1].payload_size, 16u);
  EXPECT_EQ(batch.payload[8], std::byte{2});
  ASSERT_THAT(batch.notices, SizeIs(2));
  EXPECT_EQ(batch.notices[0].before_call, 1u);
  EXPECT_EQ(batch.notices[1].before_call, 2u);
  EXPECT_FALSE(batch.urgent);
}

TEST(EventQueue, TakeEmptiesAndCloseEndsAfterTheLastBatch) {
  EventQueue queue;
  Batch batch;
  EXPECT_TRUE(queue.take(batch, kNow));
  EXPECT_TRUE(batch.empty());
  queue.call(record(1), {});
  queue.close();
  EXPECT_TRUE(queue.take(batch, kForEver));
  EXPECT_THAT(batch.calls, SizeIs(1));
  EXPECT_FALSE(queue.take(batch, kForEver));
  EXPECT_TRUE(batch.empty());
}

TEST(EventQueue, ErrorsAndEndsAreTakenAtOnce) {
  for (const bool as_notice : {false, true}) {
    EventQueue queue;
    if (as_notice) queue.notice(ProcessEnded{1});
    else queue.call(record(1, kReturned | kFailed), {});
    Batch batch;
    EXPECT_TRUE(queue.take(batch, kForEver));
    EXPECT_TRUE(batch.urgent);
    EXPECT_FALSE(batch.empty());
  }
}

TEST(EventQueue, UrgencyWakesAReaderThatWaits) {
  EventQueue queue;
  auto taken = std::async(std::launch::async, [&] {
    Batch batch;
    queue.take(batch, kForEver);
    return ids(batch);
  });
  queue.call(record(1), {});
  queue.call(record(2, kFailed), {});
  EXPECT_THAT(taken.get(), ElementsAre(1, 2));
}

// Whatever it is that is full: the reader must not sleep while the tracing thread waits for room.
struct Full {
  EventQueue::Limits limits;
  std::function<void(EventQueue&, CallId)> put;
};
class EventQueueFull : public ::testing::TestWithParam<int> {};

const Full kFull[] = {
    {{.calls = 2, .payload_bytes = 1000, .notices = 1000}, [](EventQueue& q, CallId n) { q.call(record(n), {}); }},
    {{.calls = 1000, .payload_bytes = 100, .notices = 1000},
     [](EventQueue& q, CallId n) { q.call(record(n), bytes(48)); }},
    {{.calls = 1000, .payload_bytes = 100, .notices = 1000},
     [](EventQueue& q, CallId n) { q.call(record(n), bytes(500)); }},
    {{.calls = 1000, .payload_bytes = 1000, .notices = 2},
     [](EventQueue& q, CallId n) { q.notice(ModuleUnloaded{ModuleId::of(static_cast<std::uint32_t>(n.value()))}); }},
};

TEST_P(EventQueueFull, WriterWaitsForRoomAndNothingIsLost) {
  const Full& full = kFull[GetParam()];
  EventQueue queue(full.limits);
  std::thread writer([&] {
    for (CallId n = 1; n <= 101; ++n) full.put(queue, n);
    queue.close();
  });
  std::size_t seen = 0, batches = 0;
  for (Batch batch; queue.take(batch, kForEver); ++batches) {
    seen += batch.calls.size() + batch.notices.size();
    EXPECT_LE(batch.calls.size() + batch.notices.size(), 2u);
  }
  writer.join();
  EXPECT_EQ(seen, 101u);
  EXPECT_GE(batches, 51u);
  EXPECT_GT(queue.waited_ns(), 0);
}
INSTANTIATE_TEST_SUITE_P(Of, EventQueueFull, ::testing::Range(0, 4));

TEST(EventQueue, DiscardFreesAWriterThatWaitsAndCounts) {
  EventQueue queue({.calls = 1, .payload_bytes = 100, .notices = 1});
  queue.call(record(1), {});
  std::thread writer([&] {
    for (CallId n = 2; n <= 10; ++n) queue.call(record(n), {});
    queue.notice(ModuleUnloaded{1});
  });
  queue.discard();
  writer.join();
  EXPECT_EQ(queue.handed_over(), 10u);
  queue.close();
  Batch batch;
  EXPECT_FALSE(queue.take(batch, kForEver));
}

constexpr EventQueue::Limits kSmall{.calls = 2, .payload_bytes = 1000, .notices = 2};

TEST(EventQueue, AStallHasMoreRoomAndRefusesCallsBeyondIt) {
  EventQueue queue(kSmall);
  queue.stall(kNow);
  for (CallId n = 1; n <= 20; ++n) queue.call(record(n), {});
  EXPECT_EQ(queue.refused(), 20 - 2 * EventQueue::kStallRoom);
  EXPECT_EQ(queue.handed_over(), 20u);
  EXPECT_EQ(queue.resume(), 20 - 2 * EventQueue::kStallRoom);
  EXPECT_EQ(queue.refused(), 0u);
  Batch batch;
  queue.take(batch, kForEver);
  EXPECT_THAT(batch.calls, SizeIs(2 * EventQueue::kStallRoom));
  queue.call(record(21), {});
  queue.take(batch, kNow);
  EXPECT_THAT(ids(batch), ElementsAre(21));
}

TEST(EventQueue, AStallFreesATracingThreadThatWaits) {
  EventQueue queue(kSmall);
  std::thread tracing([&] {
    for (CallId n = 1; n <= 10; ++n) queue.call(record(n), {});
  });
  queue.stall(kNow);
  tracing.join();
  EXPECT_EQ(queue.resume(), 2u);
}

TEST(EventQueue, TheTracingThreadWaitsForTheEndOfAShortStall) {
  EventQueue queue(kSmall);
  queue.stall(kForEver);
  std::thread tracing([&] {
    for (CallId n = 1; n <= 9; ++n) queue.call(record(n), {});
    queue.close();
  });
  std::size_t seen = 0;
  Batch batch;
  while (seen < 8 && queue.take(batch, kForEver)) seen += batch.calls.size();
  EXPECT_EQ(queue.resume(), 0u);
  while (queue.take(batch, kForEver)) seen += batch.calls.size();
  tracing.join();
  EXPECT_EQ(seen, 9u);
}

TEST(EventQueue, AStallKeepsNoticesWhereCallsHaveNoRoom) {
  EventQueue queue(kSmall);
  queue.stall(kNow);
  for (CallId n = 1; n <= 20; ++n) queue.call(record(n), {});
  for (ModuleId n = 1; n.value() <= 2 * EventQueue::kStallRoom; ++n) queue.notice(ModuleUnloaded{n});
  Batch batch;
  queue.take(batch, kForEver);
  EXPECT_THAT(batch.notices, SizeIs(2 * EventQueue::kStallRoom));
  EXPECT_FALSE(queue.discards());
}

TEST(EventQueue, ANoticeWithoutRoomEndsTheRecording) {
  EventQueue queue(kSmall);
  queue.stall(kNow);
  queue.call(record(1), {});
  for (ModuleId n = 0; n.value() <= 2 * EventQueue::kStallRoom; ++n) queue.notice(ModuleUnloaded{n});
  EXPECT_TRUE(queue.discards());
  EXPECT_EQ(queue.handed_over(), 1u);
}

TEST(EventQueue, MemoryOfABatchIsKept) {
  EventQueue queue;
  Batch batch;
  for (CallId n = 0; n < 100; ++n) queue.call(record(n), bytes(64));
  queue.take(batch, kNow);
  const auto capacity = batch.payload.capacity();
  queue.take(batch, kNow);
  for (CallId n = 0; n < 100; ++n) queue.call(record(n), bytes(64));
  queue.take(batch, kNow);
  EXPECT_EQ(batch.payload.capacity(), capacity);
}

}  // namespace
}  // namespace fade
