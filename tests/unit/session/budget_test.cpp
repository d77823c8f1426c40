// --budget with running programs: functions are recorded with less detail, and every call is counted.
#include <gmock/gmock.h>

#include <algorithm>

#include "probes/catalogue.hpp"
#include "session/harness.hpp"

namespace fade {
namespace {

using test::Supervised;
using ::testing::Contains;
using ::testing::IsEmpty;
using ::testing::StartsWith;

struct BudgetTest : ::testing::Test {
  BudgetTest() {
    options.wishes.probes = catalogue.all();
    options.engine = CaptureEngine::Taps;
    options.budget = 1e-9;  // nothing is cheap enough
    options.budget_prices = {1000, 1000, 1000};
    options.budget_window_ns = 30'000'000;
  }
  Supervised run(std::vector<std::string> argv) {
    argv.front() = std::string(FADE_UNIT_TRACEES) + "/" + argv.front();
    return Supervised::run(std::move(argv), options, {},
                           {"LD_LIBRARY_PATH=" + std::string(FADE_UNIT_RUNTIMES) + "/v6"});
  }
  static std::uint64_t counted(const Supervised& ran) {
    std::uint64_t out = 0;
    for (const auto& some : ran.sink.all<CallsCounted>()) out += some.n;
    return out;
  }
  // CollectingSink::counts() would look the name up for each of a million calls.
  static std::uint64_t recorded(const Supervised& ran, std::string_view name = "hipGetDevice") {
    const auto functions = ran.sink.all<FunctionDefined>();
    const auto function = std::ranges::find_if(functions, [&](const auto& one) { return one.probe->symbol == name; });
    if (function == functions.end()) return 0;
    return static_cast<std::uint64_t>(std::ranges::count_if(
        ran.sink.calls, [&](const auto& call) { return call.record.function == function->function; }));
  }

  const probes::Catalogue catalogue;
  SessionOptions options;
};

TEST_F(BudgetTest, EveryCallOfFourThreadsIsRecordedOrCounted) {
  const auto ran = run({"asks", "2000000", "4"});
  EXPECT_EQ(ran.status, 0);
  EXPECT_EQ(recorded(ran) + counted(ran), 8'000'000u);
  EXPECT_GT(counted(ran), 1'000'000u);
  EXPECT_THAT(ran.sink.lifecycle("budget"), Contains(StartsWith("hipGetDevice: only sums are recorded: ")));
  EXPECT_THAT(ran.sink.lifecycle("budget"), Contains(StartsWith("hipGetDevice: only every 8th call is recorded")));
}

TEST_F(BudgetTest, CallsOfSumsAloneAreMarked) {
  const auto ran = run({"asks", "3000000"});
  EXPECT_EQ(recorded(ran) + counted(ran), 3'000'000u);
  EXPECT_TRUE(std::ranges::any_of(ran.sink.calls, [](const auto& call) { return call.record.flags & kSumsOnly; }));
  EXPECT_FALSE(ran.sink.calls.front().record.flags & kSumsOnly);
}

TEST_F(BudgetTest, AChildOfAForkCountsForItself) {
  const auto ran = run({"asks", "2000000", "1", "0", "fork"});
  EXPECT_EQ(ran.status, 0);
  EXPECT_EQ(recorded(ran) + counted(ran), 4'000'000u);
}

TEST_F(BudgetTest, NothingIsLostIfTheProgramIsKilled) {
  const auto ran = run({"asks", "1500000", "2", "0", "kill"});
  EXPECT_EQ(ran.signal, SIGKILL);
  EXPECT_EQ(recorded(ran) + counted(ran), 3'000'000u);
}

// The tracee looks where the signals met it.
TEST_F(BudgetTest, SignalsMeetTheFunctionAndItsCallsCountOnce) {
  const auto ran = run({"asks", "3000000", "1", "3000"});
  EXPECT_EQ(ran.status, 0);
  EXPECT_EQ(recorded(ran) + counted(ran), 3'003'000u);
}

// While the handlers are at work, the function becomes one whose calls are only counted.
TEST_F(BudgetTest, HandlersReturnToAFunctionWithLessDetail) {
  options.budget_window_ns = 200'000'000;
  const auto ran = run({"asks", "300000", "60", "0", "hold"});
  EXPECT_EQ(ran.status, 0);
  EXPECT_EQ(recorded(ran) + counted(ran), 60 * 300'000u + 59);
  EXPECT_GT(counted(ran), 1'000'000u);
}

TEST_F(BudgetTest, AFunctionWithBooksKeepsEachCall) {
  const auto ran = run({"bursts", "20000", "5", "100"});
  EXPECT_EQ(recorded(ran, "hipMemset"), 100'000u);
  EXPECT_EQ(counted(ran), 0u);
  EXPECT_THAT(ran.sink.lifecycle("budget"), Contains(StartsWith("hipMemset: only sums are recorded: ")));
  EXPECT_THAT(ran.sink.lifecycle("over budget"), Contains(StartsWith("hipMemset: ")));
}

// The budget is more than the program can wait for a CPU, so only the calls themselves exceed it.
TEST_F(BudgetTest, CallsWithoutCallsInsideCount) {
  options.budget = 2;
  options.budget_prices = {1'000'000, 1'000'000, 1'000'000};
  const auto ran = run({"bursts", "20000", "5", "100"});
  EXPECT_THAT(ran.sink.lifecycle("budget"), Contains(StartsWith("hipMemset: only sums are recorded: ")));
}

TEST_F(BudgetTest, WithoutABudgetNothingChanges) {
  options.budget = 0;
  const auto ran = run({"asks", "300000"});
  EXPECT_EQ(recorded(ran), 300'000u);
  EXPECT_THAT(ran.sink.lifecycle("budget"), IsEmpty());
}

TEST_F(BudgetTest, AFunctionThatStopsIsTappedEvenIfItIsCalledSeldom) {
  options.engine = CaptureEngine::Auto;
  options.tap_window_ns = 1;  // no rate is high enough
  const auto ran = run({"bursts", "20", "30", "20"});
  EXPECT_EQ(recorded(ran, "hipMemset"), 600u);
  EXPECT_THAT(ran.sink.lifecycle("tapped"), Contains("hipMemset"));
}

TEST_F(BudgetTest, AQuietFunctionIsRecordedInWholeAgain) {
  options.budget_quiet_ns = 100'000'000;
  const auto ran = run({"bursts", "20000", "4", "700"});
  EXPECT_EQ(recorded(ran, "hipMemset"), 80'000u);
  EXPECT_THAT(ran.sink.lifecycle("budget"), Contains(StartsWith("hipMemset: each call has a row again: ")));
}

}  // namespace
}  // namespace fade
