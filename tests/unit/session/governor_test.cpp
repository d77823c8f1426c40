// The decisions of --budget over made-up rates.
#include "session/governor.hpp"

#include <gmock/gmock.h>

#include <map>

namespace fade {
namespace {

using enum BudgetStep;
using ::testing::IsEmpty;
using ::testing::SizeIs;
constexpr std::int64_t kWindow = 1'000'000'000;
constexpr BudgetPrices kPrices{10'000, 30, 5};

// A program of one thread, whose functions are called at fixed rates, and which does what the governor says.
struct Governed {
  struct Function {
    double rate = 0;  // calls a second
    BudgetStep step = Taps, least = CountsOnly;
  };
  Governor governor{0.03};
  std::map<std::uint32_t, Function> functions;
  std::int64_t now = kWindow;
  std::vector<Governor::Change> changes;  // all so far

  BudgetWindow window() const {
    BudgetWindow out{.at = now, .elapsed_ns = kWindow, .prices = kPrices, .busiest = {}, .functions = {}};
    for (const auto& [entry, function] : functions) {
      const auto calls = static_cast<std::uint64_t>(function.rate);
      BudgetCalls seen;
      const std::uint32_t every = every_of(function.step);
      if (function.step == Stops) seen.stops = 2 * calls;
      else seen.recorded = every == 0 ? 0 : calls / every;
      if (function.step > Sums) seen.counted = calls - seen.recorded;
      out.functions.push_back({entry, function.step, function.least, seen});
      out.busiest.stops += seen.stops;
      out.busiest.recorded += seen.recorded;
      out.busiest.counted += seen.counted;
    }
    return out;
  }
  double share() const { return window().busiest.cost(kPrices) / kWindow; }
  void run(int seconds) {
    for (int i = 0; i < seconds; ++i, now += kWindow)
      for (const auto& change : governor.look(window())) {
        EXPECT_EQ(functions[change.entry].step, change.from);
        functions[change.entry].step = change.to;
        changes.push_back(change);
      }
  }
};

TEST(GovernorTest, LeavesACheapProgramAlone) {
  Governed program{.functions = {{1, {.rate = 900'000}}, {2, {.rate = 10, .step = Stops}}}};
  program.run(600);
  EXPECT_THAT(program.changes, IsEmpty());
  EXPECT_FALSE(program.governor.is_at_end());
}

TEST(GovernorTest, GoesStepByStepUntilItIsCheapEnough) {
  Governed program{.functions = {{1, {.rate = 2'000'000}}}};
  program.run(20);
  EXPECT_EQ(program.functions[1].step, Every8th);
  EXPECT_LE(program.share(), 0.03);
  ASSERT_THAT(program.changes, SizeIs(2));
  EXPECT_EQ(program.changes[0].to, Sums);
  EXPECT_NEAR(program.changes[0].own, 0.06, 1e-6);
  EXPECT_NEAR(program.changes[0].all, 0.06, 1e-6);
  EXPECT_EQ(program.changes[0].rate, 2'000'000u);
}

TEST(GovernorTest, AFunctionWithStopsIsTappedFirst) {
  Governed program{.functions = {{1, {.rate = 3'000, .step = Stops}}}};
  program.run(20);
  EXPECT_EQ(program.functions[1].step, Taps);
  EXPECT_THAT(program.changes, SizeIs(1));
}

TEST(GovernorTest, TheDearestFunctionGoesFirstAndAloneIfThatIsEnough) {
  Governed program{.functions = {{1, {.rate = 400'000}}, {2, {.rate = 3'000'000}}, {3, {.rate = 100'000}}}};
  program.run(20);
  EXPECT_EQ(program.functions[1].step, Taps);
  EXPECT_GT(program.functions[2].step, Sums);
  EXPECT_EQ(program.functions[3].step, Taps);
}

TEST(GovernorTest, AFunctionWithBooksKeepsEachOfItsCalls) {
  Governed program{.functions = {{1, {.rate = 3'000'000, .least = Sums}}, {2, {.rate = 1'000'000}}}};
  program.run(20);
  EXPECT_EQ(program.functions[1].step, Sums);
  EXPECT_EQ(program.functions[2].step, CountsOnly);
  EXPECT_TRUE(program.governor.is_at_end());
}

TEST(GovernorTest, WaitingForACpuThatFadeHasCounts) {
  Governed program{.functions = {{1, {.rate = 100'000}}}};
  BudgetWindow window = program.window();
  EXPECT_THAT(program.governor.look(window), IsEmpty());
  window.beside_ns = kWindow / 10;
  ASSERT_THAT(program.governor.look(window), SizeIs(1));
}

TEST(GovernorTest, AQuietFunctionIsRecordedInWholeAgainOneStepAfterTheOther) {
  Governed program{.functions = {{1, {.rate = 2'000'000}}}};
  program.run(10);
  program.functions[1].rate = 1'000;
  program.run(50);
  EXPECT_EQ(program.functions[1].step, Every8th);
  program.run(20);
  EXPECT_EQ(program.functions[1].step, Sums);
  program.run(65);
  EXPECT_EQ(program.functions[1].step, Taps);
}

TEST(GovernorTest, DoesNotGiveBackWhatItWouldTakeAgain) {
  Governed program{.functions = {{1, {.rate = 2'000'000}}}};
  program.run(10);
  program.changes.clear();
  program.run(3'600);
  EXPECT_THAT(program.changes, IsEmpty());
}

// Bursts of two minutes with pauses as long. Each return that was too early makes the next one later.
TEST(GovernorTest, ARateThatGoesUpAndDownDoesNotMakeItFlap) {
  Governed program{.functions = {{1, {.rate = 2'000'000}}}};
  std::vector<std::size_t> changes;
  for (int hour = 0; hour < 6; ++hour) {
    const std::size_t before = program.changes.size();
    for (int burst = 0; burst < 15; ++burst) {
      program.functions[1].rate = 2'000'000;
      program.run(120);
      program.functions[1].rate = 1'000;
      program.run(120);
    }
    changes.push_back(program.changes.size() - before);
  }
  EXPECT_LE(changes.back(), 4u);
  EXPECT_LE(changes.back(), changes.front());
}

}  // namespace
}  // namespace fade
