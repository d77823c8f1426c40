#include "base/human.hpp"

#include <gtest/gtest.h>

namespace fade {
namespace {

TEST(Human, HasThreeDigitsThatCount) {
  EXPECT_EQ(human_bytes(12), "12 B");
  EXPECT_EQ(human_bytes(std::int64_t{17} << 30), "17.0 GiB");
  EXPECT_EQ(human_bytes(std::int64_t{1} << 40), "1.00 TiB");
  EXPECT_EQ(human_duration(2'040'000'000, false), "2.04 s");
  EXPECT_EQ(human_duration(12'300, true), "12.3 µs");
  EXPECT_EQ(human_duration(185'000'000'000, false), "3 min 05 s");
  EXPECT_EQ(human_ratio(1.024), "1.02");
  EXPECT_EQ(human_ratio(11.8), "11.8");
  EXPECT_EQ(human_ratio(5114.31), "5,114");
}

}  // namespace
}  // namespace fade
