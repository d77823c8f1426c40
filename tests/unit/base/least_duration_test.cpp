#include "base/least_duration.hpp"

#include <gtest/gtest.h>

namespace fade {
namespace {

LeastDuration measured() {
  LeastDuration least;
  least.measured({.form = "jump", .calls = 100, .call_ns = 4000, .call_spread_ns = 100});
  least.measured({.form = "int3", .calls = 100, .call_ns = 9000, .call_spread_ns = 900});
  least.measured({.form = "apart", .calls = 40, .call_ns = 44'000, .call_spread_ns = 9000});
  return least;
}

TEST(LeastDuration, IsUnknownWithoutAMeasurement) {
  LeastDuration least;
  least.measured({.form = "jump", .problem = "cannot make a child"});
  least.stopped({.stops = 10, .crossed = 10});
  EXPECT_EQ(least.ns(), 0);
}

TEST(LeastDuration, IsTheSpreadAndAFourthOfTheCost) {
  LeastDuration least = measured();
  EXPECT_EQ(least.ns(), 100 + 1000);
  least.stopped({.stops = 1000});
  EXPECT_EQ(least.ns(), 100 + 1000);
}

TEST(LeastDuration, RisesWithTheShareOfStopsOnAnotherCpu) {
  LeastDuration least = measured();
  least.stopped({.stops = 100, .crossed = 10});
  EXPECT_EQ(least.ns(), 1100 + 40'000 / 5);
  least.stopped({.stops = 100, .crossed = 100});
  EXPECT_EQ(least.ns(), 1100 + 40'000) << "never more than one whole crossing";
}

TEST(LeastDuration, IsNeverZeroOnceMeasured) {
  LeastDuration least;
  least.measured({.form = "jump", .calls = 1, .call_ns = 1});
  EXPECT_EQ(least.ns(), 1);
}

}  // namespace
}  // namespace fade
