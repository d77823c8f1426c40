#include "cli/table/slowdown.hpp"

#include <gmock/gmock.h>

namespace fade::table {
namespace {

using ::testing::StartsWith;

constexpr std::int64_t kMs = 1'000'000;

Slowdown cost(std::int64_t calls_ms, std::int64_t life_ms) {
  return {.calls = 20'001,
          .threads = 1,
          .calls_ns = calls_ms * kMs,
          .other_ns = 0,
          .busiest_ns = calls_ms * kMs,
          .life_ns = life_ms * kMs};
}

TEST(Slowdown, IsTheLifeByWhatIsLeftOfItWithoutTheCost) {
  EXPECT_EQ(slowdown_text(cost(300, 400), false), "more than 3x: 20,001 calls x 15.0 us = 300 ms of 400 ms");
  EXPECT_EQ(slowdown_text(cost(300, 400), true), "more than 3x: 20,001 calls x 15.0 µs = 300 ms of 400 ms");
  EXPECT_THAT(slowdown_text(cost(300, 550), false), StartsWith("about 2.2x: "));
  EXPECT_THAT(slowdown_text(cost(100, 500), false), StartsWith("about 25 % slower: "));
  EXPECT_THAT(slowdown_text(cost(1, 5000), false), StartsWith("less than 1 % slower: "));
}

TEST(Slowdown, IsNotDividedByNextToNothing) {
  EXPECT_THAT(slowdown_text(cost(390, 400), false), StartsWith("more than 3x: "));
  EXPECT_THAT(slowdown_text(cost(500, 400), false), StartsWith("more than 3x: "));
}

TEST(Slowdown, OfSeveralThreadsIsARange) {
  Slowdown c = cost(300, 400);
  c.threads = 4;
  c.busiest_ns = 100 * kMs;
  EXPECT_EQ(slowdown_text(c, false),
            "about 33 % slower to more than 3x: 20,001 calls of 4 threads x 15.0 us = 300 ms of 400 ms");
  c.callers = 1;  // stops of threads that call nothing hold the program up too
  EXPECT_EQ(slowdown_text(c, false), "about 33 % slower to more than 3x: 20,001 calls x 15.0 us = 300 ms of 400 ms");
  c.busiest_ns = 0;
  EXPECT_THAT(slowdown_text(c, false), StartsWith("up to more than 3x: "));
  c.calls_ns = 390 * kMs;
  EXPECT_THAT(slowdown_text(c, false), StartsWith("up to more than 3x: "));
  c.busiest_ns = 370 * kMs;
  EXPECT_THAT(slowdown_text(c, false), StartsWith("more than 3x: "));
  c.calls_ns = 80 * kMs;
  c.busiest_ns = 40 * kMs;
  EXPECT_THAT(slowdown_text(c, false), StartsWith("about 11 % to 25 % slower: "));
}

TEST(Slowdown, CountsCallsWithoutAStopApart) {
  Slowdown c = cost(300, 800);
  c.calls += 1'000'000;
  c.tapped = 1'000'000;
  EXPECT_EQ(slowdown_text(c, false),
            "about 60 % slower: 20,001 calls x 15.0 us + 1,000,000 without a stop = 300 ms of 800 ms");
  c.taps_ns = 20 * kMs;
  EXPECT_EQ(slowdown_text(c, false),
            "about 67 % slower: 20,001 calls x 15.0 us + 1,000,000 without a stop x 20 ns = 320 ms of 800 ms");
}

TEST(Slowdown, NamesWhatOtherStopsCost) {
  Slowdown c = cost(300, 800);
  c.other_ns = 100 * kMs;
  EXPECT_EQ(slowdown_text(c, false),
            "about 2.0x: 20,001 calls x 15.0 us + 100 ms for loading and starting = 400 ms of 800 ms");
  c.calls = 0;
  c.calls_ns = 0;
  EXPECT_EQ(slowdown_text(c, false), "about 14 % slower: 100 ms of 800 ms");
}

TEST(Slowdown, IsUnknownWhereNothingWasMeasured) {
  Slowdown c = cost(300, 400);
  c.is_measured = false;
  EXPECT_EQ(slowdown_text(c, false), "unknown, fade's own part alone is 20,001 calls x 15.0 us = 300 ms of 400 ms");
  EXPECT_EQ(slowdown_text({}, false), "nothing was stopped");
}

}  // namespace
}  // namespace fade::table
