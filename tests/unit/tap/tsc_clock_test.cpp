#include "tap/tsc_clock.hpp"

#include <gtest/gtest.h>
#include <time.h>
#include <x86intrin.h>

#include <cstdlib>

namespace fade::tap {
namespace {

constexpr const char* kGood = "processor\t: 0\nflags\t\t: fpu tsc constant_tsc nonstop_tsc\n";

TEST(TscClock, IsUsableOnlyIfTheCounterIsAClock) {
  EXPECT_TRUE(TscClock::usable(kGood, "tsc\n"));
  EXPECT_TRUE(TscClock::usable(kGood, "kvm-clock\n"));
  EXPECT_EQ(TscClock::usable("processor\t: 0\nflags\t\t: fpu tsc nonstop_tsc\n", "tsc\n").error().cause,
            "/proc/cpuinfo does not list constant_tsc");
  EXPECT_EQ(TscClock::usable("processor\t: 0\nflags\t\t: xconstant_tsc constant_tsc_2\n", "tsc\n").error().cause,
            "/proc/cpuinfo does not list constant_tsc");
  EXPECT_EQ(TscClock::usable(kGood, "hpet\n").error().cause, "the kernel's clock source is hpet, not tsc or kvm-clock");
  EXPECT_FALSE(TscClock::usable("", ""));
}

TEST(TscClock, CountsFromTheBeginOfTheSession) {
  TscClock clock({1'000'000, 500'000}, 400'000);
  clock.update({3'000'000, 1'500'000});  // two ticks a nanosecond
  EXPECT_DOUBLE_EQ(clock.ns_per_tick(), 0.5);
  EXPECT_EQ(clock.at(3'000'000), 1'100'000);
  EXPECT_EQ(clock.at(3'000'200), 1'100'100);
  EXPECT_EQ(clock.at(2'999'800), 1'099'900);
}

TEST(TscClock, FollowsTheKernelsClock) {
  TscClock clock({0, 0}, 0);
  clock.update({2'000, 1'000});
  clock.update({4'000, 1'000'000});  // a suspended machine, for example
  EXPECT_EQ(clock.at(4'000), 1'000'000);
}

TEST(TscClock, IsTheKernelsClockOnThisMachine) {
  const auto first = TscClock::sample();
  TscClock clock(first, first.boottime_ns);
  timespec wait{0, 20'000'000};
  ::nanosleep(&wait, nullptr);
  clock.update(TscClock::sample());
  const auto later = TscClock::sample();
  EXPECT_LT(std::llabs(clock.at(later.tsc) - (later.boottime_ns - first.boottime_ns)), 100'000);
}

}  // namespace
}  // namespace fade::tap
