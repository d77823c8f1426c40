#include "cli/query/number_differences.hpp"

#include <gmock/gmock.h>

namespace fade::query {
namespace {

NumberCopy copy(std::optional<std::int64_t> step, const std::string& checksum, const std::string& place = "a.py:1",
                std::int64_t part = 1) {
  return {
      .part = part, .step = step, .direction = "d2h", .place = place, .bytes = 4, .scanned = 4, .checksum = checksum};
}

TEST(NumberDifferences, EqualRunsHaveNoParting) {
  const std::vector<NumberCopy> run{copy({}, "a"), copy(1, "b"), copy(2, "b")};
  const NumberSteps steps = number_steps(run, run);
  EXPECT_FALSE(steps.first);
  EXPECT_EQ(steps.compared, 3);
  ASSERT_EQ(steps.steps.size(), 3u);
  EXPECT_FALSE(steps.steps[0].step);
}

TEST(NumberDifferences, TheFirstCopyWithOtherBytesIsNamed) {
  const NumberSteps steps =
      number_steps({copy(1, "a"), copy(2, "b"), copy(3, "c")}, {copy(1, "a"), copy(2, "x"), copy(3, "y")});
  ASSERT_TRUE(steps.first);
  EXPECT_EQ(steps.first->before.step, 2);
  EXPECT_EQ(steps.first->after.checksum, "x");
  EXPECT_EQ(steps.first->equal_before, 1);
  EXPECT_EQ(steps.different, 2);
}

// Threads of a run do not always come in the same order.
TEST(NumberDifferences, PlacesAndProcessesAreComparedByThemselves) {
  const NumberSteps steps = number_steps({copy(1, "a", "x.py:1"), copy(1, "b", "x.py:2"), copy(1, "c", "x.py:1", 2)},
                                         {copy(1, "c", "x.py:1", 2), copy(1, "b", "x.py:2"), copy(1, "a", "x.py:1")});
  EXPECT_EQ(steps.compared, 3);
  EXPECT_EQ(steps.different, 0);
}

TEST(NumberDifferences, WhatOneRunAloneHasIsCounted) {
  const NumberSteps steps = number_steps({copy(1, "a"), copy(2, "b")}, {copy(1, "a"), copy(5, "z", "other.py:1")});
  EXPECT_EQ(steps.compared, 1);
  EXPECT_EQ(steps.only_before, 1);
  EXPECT_EQ(steps.only_after, 1);
  ASSERT_EQ(steps.steps.size(), 3u);
  EXPECT_EQ(steps.steps[2].step, 5);
  EXPECT_EQ(number_steps({}, {}).compared, 0);
}

// Fewer bytes were looked at: then equal checksums say nothing.
TEST(NumberDifferences, AnotherPartOfTheBytesIsADifference) {
  NumberCopy less = copy(1, "a");
  less.scanned = 2;
  EXPECT_EQ(number_steps({copy(1, "a")}, {less}).different, 1);
}

}  // namespace
}  // namespace fade::query
