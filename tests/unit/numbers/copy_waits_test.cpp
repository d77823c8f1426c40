#include "numbers/copy_waits.hpp"

#include <gmock/gmock.h>

namespace fade::numbers {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

CopyWaits::Copy copy(std::uint64_t host, std::uint64_t stream, int device = 0) {
  CopyWaits::Copy out{.stream = stream, .device = device};
  out.seen.host = host;
  out.seen.bytes = 16;
  return out;
}
std::vector<std::uint64_t> hosts(const std::vector<CopyWaits::Copy>& copies) {
  std::vector<std::uint64_t> out;
  for (const auto& one : copies) out.push_back(one.seen.host);
  return out;
}

TEST(CopyWaits, AStreamIsWaitedForAlone) {
  CopyWaits waits;
  waits.enqueued(copy(100, 7));
  waits.enqueued(copy(200, 8));
  EXPECT_THAT(hosts(waits.stream_done(8, waits.now())), ElementsAre(200));
  EXPECT_THAT(hosts(waits.stream_done(7, waits.now())), ElementsAre(100));
  EXPECT_THAT(waits.take_all(), IsEmpty());
}

// Another thread enqueued the copy while the wait went on.
TEST(CopyWaits, AWaitThatBeganEarlierCoversNothing) {
  CopyWaits waits;
  const auto before = waits.now();
  waits.enqueued(copy(100, 7));
  EXPECT_THAT(waits.stream_done(7, before), IsEmpty());
  EXPECT_THAT(waits.device_done(0, before), IsEmpty());
}

TEST(CopyWaits, AnEventCoversWhatCameBeforeIt) {
  CopyWaits waits;
  waits.enqueued(copy(100, 7));
  waits.recorded(1, 7, waits.now());
  waits.enqueued(copy(200, 7));
  EXPECT_THAT(hosts(waits.event_done(1)), ElementsAre(100));
  EXPECT_THAT(waits.event_done(2), IsEmpty());
  EXPECT_THAT(hosts(waits.take_all()), ElementsAre(200));
}

TEST(CopyWaits, AStreamThatWaitedForAnEventCoversIt) {
  CopyWaits waits;
  waits.enqueued(copy(100, 7));
  waits.recorded(1, 7, waits.now());
  waits.joined(8, 1);
  waits.enqueued(copy(200, 7));  // behind the event
  waits.recorded(2, 8, waits.now());
  waits.joined(9, 2);
  EXPECT_THAT(hosts(waits.stream_done(9, waits.now())), ElementsAre(100));
}

TEST(CopyWaits, TheNullStreamWaitsForBlockingStreams) {
  CopyWaits waits;
  waits.stream_created(7, true);
  waits.stream_created(8, false);
  for (const std::uint64_t stream : {std::uint64_t{0}, std::uint64_t{7}, std::uint64_t{8}, std::uint64_t{9}})
    waits.enqueued(copy(1000 + 100 * stream, stream));
  EXPECT_THAT(hosts(waits.stream_done(kNullStream, waits.now())), ElementsAre(1000, 1700));
}

TEST(CopyWaits, ADeviceIsWaitedForAlone) {
  CopyWaits waits;
  waits.enqueued(copy(100, 7, 0));
  waits.enqueued(copy(200, 8, 1));
  EXPECT_THAT(hosts(waits.device_done(1, waits.now())), ElementsAre(200));
}

TEST(CopyWaits, MemoryThatIsUsedAgainIsNotLookedAt) {
  CopyWaits waits;
  EXPECT_THAT(waits.enqueued(copy(100, 7)), IsEmpty());
  EXPECT_THAT(hosts(waits.enqueued(copy(108, 7))), ElementsAre(100));
  EXPECT_THAT(hosts(waits.take_all()), ElementsAre(108));
}

TEST(CopyWaits, ThereIsAMost) {
  CopyWaits waits;
  for (std::uint64_t i = 0; i < CopyWaits::kMost; ++i) EXPECT_THAT(waits.enqueued(copy(100 * i, 7)), IsEmpty());
  EXPECT_THAT(hosts(waits.enqueued(copy(100 * CopyWaits::kMost, 7))), ElementsAre(100 * CopyWaits::kMost));
}

TEST(CopyWaits, CapturesAreCountedByStream) {
  CopyWaits waits;
  waits.capture(7, true);
  waits.capture(8, true);
  waits.capture(7, false);
  EXPECT_TRUE(waits.is_capturing());
  waits.capture(8, false);
  EXPECT_FALSE(waits.is_capturing());
}

}  // namespace
}  // namespace fade::numbers
