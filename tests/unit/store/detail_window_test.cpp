// When rows of calls are stored: --schedule, --window, --trigger.
#include "store/detail_window.hpp"

#include <gmock/gmock.h>

namespace fade::store {
namespace {

using DetailBy = DetailRule::By;
using What = DetailWindow::Change::What;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::int64_t kASecond = 1'000'000'000;

std::vector<std::string> changes(DetailWindow& window) {
  std::vector<std::string> out;
  for (const auto& change : window.take_changes()) {
    const char* const words[] = {"sums", "rows", "trigger"};
    out.push_back(std::string(words[static_cast<int>(change.what)]) + " " + std::to_string(change.at / kASecond));
  }
  return out;
}

// The steps of a thread in which rows are stored, of so many. A step takes a second.
std::string active_steps(DetailRule rule, std::int64_t steps) {
  rule.by = DetailBy::Steps;
  DetailWindow window(rule);
  std::string out;
  for (std::int64_t step = 1; step <= steps; ++step) {
    window.step_opened(1, step, step * kASecond);
    out += window.wants_rows() ? std::to_string(step) + " " : "";
    window.step_closed(1, step, (step + 1) * kASecond - 1, kASecond);
  }
  return out;
}

// What schedule() of torch.profiler records, with the steps counted from 1.
TEST(Schedules, ChooseTheStepsOfPyTorchsProfiler) {
  EXPECT_EQ(active_steps({.active = 1}, 3), "1 2 3 ");
  EXPECT_EQ(active_steps({.wait = 1, .warmup = 1, .active = 3, .repeat = 2}, 20), "3 4 5 8 9 10 ");
  EXPECT_EQ(active_steps({.skip = 10, .wait = 5, .warmup = 1, .active = 3, .repeat = 1}, 40), "17 18 19 ");
  EXPECT_EQ(active_steps({.wait = 2, .active = 1}, 9), "3 6 9 ");
  EXPECT_EQ(active_steps({.skip = 2, .active = 1, .repeat = 1}, 9), "3 ");
}

// A compilation makes one step long.
TEST(Schedules, TakeTheNextStepsForShortAfterASlowOne) {
  DetailWindow window({.by = DetailBy::Steps, .skip = 10, .active = 1});
  std::int64_t at = 0;
  for (std::int64_t step = 1; step <= 5; ++step) {
    const std::int64_t ns = step == 5 ? 3 * kASecond : kASecond / 50;
    window.step_opened(1, step, at);
    window.step_closed(1, step, at += ns, ns);
  }
  window.step_opened(1, 6, at);
  EXPECT_FALSE(window.is_quiet(at));
}

TEST(Schedules, TellWhenRowsBeginAndEnd) {
  DetailWindow window({.by = DetailBy::Steps, .text = "--schedule", .wait = 1, .active = 2, .repeat = 1});
  EXPECT_THAT(changes(window), ElementsAre("sums 0"));
  for (std::int64_t step = 1; step <= 4; ++step) {
    window.step_opened(1, step, 10 * step * kASecond);
    window.step_closed(1, step, (10 * step + 5) * kASecond, 5 * kASecond);
  }
  EXPECT_THAT(changes(window), ElementsAre("rows 20", "sums 35"));
}

TEST(Schedules, HaveRowsWhileAnyThreadIsInAnActiveStep) {
  DetailWindow window({.by = DetailBy::Steps, .wait = 1, .active = 1, .repeat = 1});
  window.step_opened(1, 2, 1);
  window.step_opened(2, 1, 2);
  EXPECT_TRUE(window.wants_rows());
  window.step_closed(1, 2, 3, 2);
  EXPECT_FALSE(window.wants_rows());
  window.step_closed(2, 1, 4, 2);
  window.step_opened(2, 2, 5);
  EXPECT_TRUE(window.wants_rows());
  window.thread_ended(2, 6);
  EXPECT_FALSE(window.wants_rows());
}

// At the begin of each step: may stacks be left out?
std::string quiet_steps(DetailRule rule, std::int64_t step_ns) {
  rule.by = DetailBy::Steps;
  DetailWindow window(rule);
  std::string out = window.is_quiet(0) ? "q" : "-";
  for (std::int64_t step = 1; step <= 7; ++step) {
    window.step_opened(1, step, step * step_ns);
    out += window.is_quiet(0) ? "q" : "-";
    window.step_closed(1, step, (step + 1) * step_ns, step_ns);
  }
  return out;
}

TEST(Schedules, AreQuietUntilTheirWarmup) {
  EXPECT_EQ(quiet_steps({.wait = 3, .warmup = 1, .active = 1, .repeat = 1}, 10 * kASecond), "--qq--qq");
  EXPECT_EQ(quiet_steps({.skip = 1, .wait = 2, .active = 1}, 10 * kASecond), "--qq-qq-");
}

TEST(Schedules, OfShortStepsAreQuietOnlyWhenTheyAreOver) {
  EXPECT_EQ(quiet_steps({.wait = 3, .warmup = 1, .active = 1, .repeat = 1}, 1'000'000), "------qq");
  EXPECT_EQ(quiet_steps({.wait = 100, .active = 1}, 30'000'000), "--qqqqqq");
}

TEST(Windows, HaveRowsInTheFirstPartOfEachPeriod) {
  DetailWindow window({.by = DetailBy::Time, .period_ns = 60 * kASecond, .detail_ns = 10 * kASecond});
  EXPECT_TRUE(window.wants_rows());
  window.passed(9 * kASecond);
  EXPECT_TRUE(window.wants_rows());
  window.passed(10 * kASecond);
  EXPECT_FALSE(window.wants_rows());
  EXPECT_TRUE(window.is_quiet(57 * kASecond));
  EXPECT_FALSE(window.is_quiet(59 * kASecond));
  window.passed(125 * kASecond);
  EXPECT_TRUE(window.wants_rows());
  EXPECT_FALSE(window.is_quiet(125 * kASecond));
  EXPECT_THAT(changes(window), ElementsAre("rows 0", "sums 10", "rows 60", "sums 70", "rows 120"));
}

TEST(Windows, DoNotTellALongTimeWithoutCallsPeriodByPeriod) {
  DetailWindow window({.by = DetailBy::Time, .period_ns = 10, .detail_ns = 3});
  window.take_changes();
  constexpr std::int64_t kADay = 86'400 * kASecond;
  window.passed(kADay + 1);
  EXPECT_TRUE(window.wants_rows());
  const auto told = window.take_changes();
  ASSERT_EQ(told.size(), 2u);
  EXPECT_EQ((std::pair{told[0].what, told[0].at}), (std::pair{What::Sums, std::int64_t{3}}));
  EXPECT_EQ((std::pair{told[1].what, told[1].at}), (std::pair{What::Rows, kADay}));
  window.passed(kADay + 3);
  EXPECT_FALSE(window.wants_rows());
}

class Triggers : public testing::Test {
 protected:
  static DetailWindow window(DetailRule rule) {
    rule.by = DetailBy::Trigger;
    rule.keep_ns = 30 * kASecond;
    return DetailWindow(rule);
  }
};

TEST_F(Triggers, KeepRowsBeforeAndAfter) {
  DetailWindow w = window({.on_mark = true});
  EXPECT_EQ(w.forgettable(100 * kASecond).until, 70 * kASecond);
  w.marked("here", 100 * kASecond);
  EXPECT_EQ(w.forgettable(101 * kASecond).until, 0) << "nothing goes while rows are kept";
  w.marked("again", 110 * kASecond);
  w.passed(139 * kASecond);
  w.passed(141 * kASecond);
  EXPECT_THAT(changes(w), ElementsAre("sums 0", "trigger 100", "rows 70", "trigger 110", "sums 140"));
  EXPECT_EQ(w.forgettable(200 * kASecond).from, 140 * kASecond);
  EXPECT_EQ(w.forgettable(200 * kASecond).until, 170 * kASecond);
  w.marked("soon after", 150 * kASecond);
  EXPECT_THAT(changes(w), ElementsAre("trigger 150", "rows 140"));
}

TEST_F(Triggers, KeepTheLastSecondsOfARecording) {
  DetailWindow w = window({.on_mark = true});
  w.finish(100 * kASecond);
  EXPECT_THAT(changes(w), ElementsAre("sums 0", "rows 70"));
}

TEST_F(Triggers, AreFirstErrorsOfAKind) {
  DetailWindow w = window({.on_error = true});
  w.failed(1, "hipMalloc", 2, kASecond);
  w.failed(1, "hipMalloc", 2, 2 * kASecond);
  w.failed(1, "hipMalloc", 1, 3 * kASecond);
  w.marked("", 4 * kASecond);
  EXPECT_THAT(changes(w), ElementsAre("sums 0", "trigger 1", "rows 0", "trigger 3"));
}

TEST_F(Triggers, AreStepsSlowerThanTheMedian) {
  DetailWindow w = window({.slow_step = 3});
  w.take_changes();
  for (std::int64_t step = 1; step <= 5; ++step) w.step_closed(1, step, step * kASecond, 100 + step);
  w.step_closed(1, 6, 6 * kASecond, 300);
  EXPECT_THAT(changes(w), IsEmpty());
  w.step_closed(1, 7, 7 * kASecond, 400);
  EXPECT_THAT(changes(w), ElementsAre("trigger 7", "rows 0"));
}

TEST_F(Triggers, NeedSomeStepsForAMedian) {
  DetailWindow w = window({.slow_step = 3});
  w.take_changes();
  for (std::int64_t step = 1; step <= 4; ++step) w.step_closed(1, step, step, 100);
  w.step_closed(1, 5, 5, 100'000);
  EXPECT_THAT(changes(w), IsEmpty());
}

TEST_F(Triggers, AreMemoryThatRisesAboveALimit) {
  DetailWindow w = window({.memory = 100});
  w.take_changes();
  w.in_use(100, kASecond);
  w.in_use(101, 2 * kASecond);
  w.in_use(500, 3 * kASecond);
  w.in_use(50, 4 * kASecond);
  w.in_use(200, 100 * kASecond);
  EXPECT_THAT(changes(w), ElementsAre("trigger 2", "rows 0", "trigger 100"));
}

TEST_F(Triggers, AreSignalsOfThatNumber) {
  DetailWindow w = window({.signal = 12});
  w.take_changes();
  w.signalled(10, kASecond);
  EXPECT_THAT(changes(w), IsEmpty());
  w.signalled(12, kASecond);
  const auto told = w.take_changes();
  ASSERT_EQ(told.size(), 2u);
  EXPECT_THAT(told[0].why, HasSubstr("SIGUSR2"));
}

TEST(Details, AreAlwaysThereWithoutARule) {
  DetailWindow window({});
  EXPECT_TRUE(window.wants_rows());
  EXPECT_FALSE(window.is_quiet(0));
  EXPECT_FALSE(window.has_changes());
}

}  // namespace
}  // namespace fade::store
