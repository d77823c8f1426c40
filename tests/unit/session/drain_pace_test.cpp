#include "session/drain_pace.hpp"

#include <gtest/gtest.h>

namespace fade {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t kSize = 256 * 1024;

TEST(DrainPaceTest, without_records_the_usual_tick_is_enough) {
  DrainPace pace;
  for (int n = 0; n < 100; ++n) EXPECT_EQ(0ms, pace.next(0, kSize));
}

TEST(DrainPaceTest, the_first_record_makes_it_quick) {
  DrainPace pace;
  pace.next(0, kSize);
  EXPECT_EQ(10ms, pace.next(32, kSize));
  EXPECT_EQ(10ms, pace.next(kSize / 4, kSize));
}

TEST(DrainPaceTest, a_ring_that_is_half_full_is_read_sooner) {
  DrainPace pace;
  EXPECT_EQ(5ms, pace.next(kSize, kSize));
  EXPECT_EQ(2ms, pace.next(kSize, kSize));
  EXPECT_EQ(2ms, pace.next(kSize, kSize));
  EXPECT_EQ(2ms, pace.next(kSize / 4, kSize));
}

TEST(DrainPaceTest, rings_with_few_records_are_read_later) {
  DrainPace pace;
  for (int n = 0; n < 3; ++n) pace.next(kSize, kSize);
  EXPECT_EQ(4ms, pace.next(32, kSize));
  EXPECT_EQ(8ms, pace.next(32, kSize));
  EXPECT_EQ(10ms, pace.next(32, kSize));
}

TEST(DrainPaceTest, a_pause_is_not_yet_the_end) {
  DrainPace pace;
  pace.next(32, kSize);
  for (int n = 0; n < 19; ++n) EXPECT_EQ(10ms, pace.next(0, kSize));
  EXPECT_EQ(0ms, pace.next(0, kSize));
  EXPECT_EQ(0ms, pace.next(0, kSize));
  EXPECT_EQ(10ms, pace.next(32, kSize));
}

}  // namespace
}  // namespace fade
