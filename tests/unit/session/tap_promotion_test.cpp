// --engine auto: which functions of a running program are tapped, and when they have breakpoints again.
#include <gmock/gmock.h>

#include <algorithm>

#include "probes/catalogue.hpp"
#include "session/harness.hpp"

namespace fade {
namespace {

using test::Supervised;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;

struct TapPromotionTest : ::testing::Test {
  TapPromotionTest() {
    options.wishes.probes = catalogue.all();
    options.tap_window_ns = 60'000'000'000;  // on a slow machine a hundred calls take longer than 100 ms
  }
  Supervised run(std::vector<std::string> argv) {
    argv.front() = std::string(FADE_UNIT_TRACEES) + "/" + argv.front();
    return Supervised::run(std::move(argv), options, {},
                           {"LD_LIBRARY_PATH=" + std::string(FADE_UNIT_RUNTIMES) + "/v6"});
  }
  static auto tapped(const Supervised& ran) {
    return std::ranges::count_if(ran.sink.calls, [](const auto& call) { return (call.record.flags & kTapped) != 0; });
  }

  static std::uint64_t stops(const Supervised& ran) {
    std::uint64_t sum = 0;
    for (const auto& cost : ran.sink.all<StopCost>()) sum += cost.stops;
    return sum;
  }

  const probes::Catalogue catalogue;
  SessionOptions options;
};

TEST_F(TapPromotionTest, AFunctionThatIsCalledOftenIsTapped) {
  const auto ran = run({"bursts", "1000", "3", "50"});
  EXPECT_EQ(ran.status, 0);
  EXPECT_EQ(ran.sink.counts().at("hipMemset"), 3000);
  EXPECT_THAT(ran.sink.lifecycle("tapped"), ElementsAre("hipMemset"));
  EXPECT_LE(tapped(ran), 2900);  // the first hundred show that it is called often
  EXPECT_GE(tapped(ran), 2000);
}

TEST_F(TapPromotionTest, AFunctionThatIsCalledSeldomIsNot) {
  options.tap_window_ns = HotFunctions::kWindow;
  const auto ran = run({"bursts", "50", "4", "150"});
  EXPECT_EQ(ran.status, 0);
  EXPECT_EQ(ran.sink.counts().at("hipMemset"), 200);
  EXPECT_THAT(ran.sink.lifecycle("tapped"), IsEmpty());
  EXPECT_EQ(tapped(ran), 0);
}

TEST_F(TapPromotionTest, AFunctionWithBreakpointsAloneIsNot) {
  options.engine = CaptureEngine::Breakpoints;
  const auto ran = run({"bursts", "1000", "3", "50"});
  EXPECT_EQ(ran.sink.counts().at("hipMemset"), 3000);
  EXPECT_THAT(ran.sink.lifecycle("tapped"), IsEmpty());
  EXPECT_EQ(tapped(ran), 0);
}

TEST_F(TapPromotionTest, AQuietFunctionHasItsBreakpointAgain) {
  options.tap_quiet_ns = 300'000'000;
  const auto ran = run({"bursts", "1000", "2", "3000"});
  EXPECT_EQ(ran.sink.counts().at("hipMemset"), 2000);
  EXPECT_THAT(ran.sink.lifecycle("tapped"), ElementsAre("hipMemset", "hipMemset"));
  EXPECT_THAT(ran.sink.lifecycle("untapped"), Contains("hipMemset: not called for 0.3 s"));
  EXPECT_LE(tapped(ran), 1800);
  EXPECT_GE(tapped(ran), 1200);
}

// A breakpoint at their return address is for the other one alone.
TEST_F(TapPromotionTest, ATappedFunctionSharesItsCallPlaceWithOneThatStops) {
  const auto ran = run({"one_place", "2000"});
  EXPECT_EQ(ran.status, 0);
  EXPECT_EQ(ran.sink.counts().at("hipMemset"), 2000);
  EXPECT_EQ(ran.sink.counts().at("hipMemGetInfo"), 200);
  EXPECT_LE(tapped(ran), 1900);
  EXPECT_GE(tapped(ran), 1200);
  EXPECT_TRUE(std::ranges::all_of(ran.sink.calls, [](const auto& call) { return call.record.flags & kReturned; }));
  EXPECT_LT(stops(ran), 2 * 100 + 3 * 200 + 50u);  // each call of the other one is followed by one stop too many
}

TEST_F(TapPromotionTest, AFunctionThatNeedsAStopSaysWhy) {
  const auto ran = run({"loop", "500"});
  EXPECT_EQ(ran.sink.counts().at("hipMalloc"), 500);
  EXPECT_THAT(ran.sink.lifecycle("not tapped"), Contains("hipMalloc: --stacks takes stacks of its calls"));
  EXPECT_THAT(ran.sink.lifecycle("tapped"), Not(Contains("hipMalloc")));
}

}  // namespace
}  // namespace fade
