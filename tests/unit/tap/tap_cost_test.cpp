#include "tap/tap_cost.hpp"

#include <gtest/gtest.h>

namespace fade::tap {
namespace {

TEST(TapCost, AnEmptyFunctionIsCalledThroughATap) {
  const auto cost = measure_tap();
  ASSERT_TRUE(cost) << cost.error().text();
  EXPECT_EQ(cost->calls, 20'000u);
  EXPECT_GT(cost->within.median, 0);
  EXPECT_GT(cost->call.median, 0);
  EXPECT_LT(cost->gate.median, cost->call.median);
}

}  // namespace
}  // namespace fade::tap
