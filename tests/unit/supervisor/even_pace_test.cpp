#include "supervisor/even_pace.hpp"

#include <gtest/gtest.h>

namespace fade {
namespace {

TEST(EvenPace, LooksThatComeALittleEarlyLoseNoMoment) {
  EvenPace pace(50);
  int due = 0;
  for (std::int64_t now = 1000; now < 1000 + 49 * 100; now += 49) due += pace.is_due(now);
  EXPECT_GE(due, 97) << "49 * 100 / 50";
  EXPECT_LE(due, 99);
}

TEST(EvenPace, ManyLooksAreDueOnceAPeriod) {
  EvenPace pace(50);
  int due = 0;
  for (std::int64_t now = 1000; now < 2000; ++now) due += pace.is_due(now);
  EXPECT_EQ(due, 20);
}

TEST(EvenPace, MissedMomentsAreNotMadeUp) {
  EvenPace pace(50);
  EXPECT_TRUE(pace.is_due(1000));
  EXPECT_TRUE(pace.is_due(5000));
  EXPECT_FALSE(pace.is_due(5001));
  EXPECT_FALSE(pace.is_due(5049));
  EXPECT_TRUE(pace.is_due(5050));
}

}  // namespace
}  // namespace fade
