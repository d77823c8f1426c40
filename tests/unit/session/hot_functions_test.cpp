#include "session/hot_functions.hpp"

#include <gtest/gtest.h>

namespace fade {
namespace {

// The calls a second that are told after so many stops, each `every` ns after the one before.
std::optional<std::uint64_t> after(HotFunctions& hot, std::uint32_t stops, std::int64_t every, std::int64_t from = 0) {
  std::optional<std::uint64_t> told;
  for (std::uint32_t i = 0; i < stops; ++i)
    if (const auto rate = hot.stopped(7, from + i * every)) told = rate;
  return told;
}

TEST(HotFunctions, AHundredCallsInATenthOfASecondAreMany) {
  HotFunctions hot;
  EXPECT_FALSE(after(hot, 199, 100'000));
  EXPECT_EQ(hot.stopped(7, 20'000'000), std::optional<std::uint64_t>(5000));  // in 20 ms
}

TEST(HotFunctions, ItIsToldOnceUntilItIsForgotten) {
  HotFunctions hot;
  EXPECT_TRUE(after(hot, 200, 1000));
  EXPECT_FALSE(after(hot, 1000, 1000, 1'000'000));
  hot.forget(7);
  EXPECT_TRUE(after(hot, 200, 1000, 10'000'000));
}

TEST(HotFunctions, CallsThatAreSpreadOutAreFew) {
  HotFunctions hot;
  EXPECT_FALSE(after(hot, 10'000, 600'000));  // 833 calls a second
}

TEST(HotFunctions, EachFunctionHasItsOwnCount) {
  HotFunctions hot;
  for (std::uint32_t i = 0; i < 1000; ++i) EXPECT_FALSE(hot.stopped(i, i * 1000));
}

}  // namespace
}  // namespace fade
