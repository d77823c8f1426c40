#include "cli/top/view.hpp"

#include <gmock/gmock.h>

#include "cli/top/history.hpp"
#include "cli/top/keys.hpp"
#include "cli/top/sampler.hpp"

namespace fade::cli::top {
namespace {

using testing::ElementsAre;
using testing::Field;

constexpr std::int64_t kViewSecond = 1'000'000'000;

Sums sums_at(std::int64_t second, std::int64_t copies, std::int64_t launches) {
  Sums sums;
  sums.at_ns = second * kViewSecond;
  sums.since_ns = second * kViewSecond;
  sums.processes = {
      {.id = 1,
       .pid = 4242,
       .command = "a",
       .calls = copies,
       .errors = 0,
       .launches = 0,
       .waited_ns = copies * 1'000'000},
      {.id = 2, .pid = 4243, .command = "b", .calls = launches, .errors = launches / 10, .launches = launches}};
  sums.functions = {{1, "hipMemcpy", copies, 0, copies * 1'000'000, 0},
                    {2, "hipLaunchKernel", launches, launches / 10, launches * 1'000, 0},
                    {2, "hipMemcpy", 5, 0, 5'000, 0}};
  sums.lines = {{1, "train.py:7 step", 0, 0, 0, copies / 10}, {2, "load.py:3 read", 0, 0, 0, 30}};
  return sums;
}

Choice sorted_by(Order order) {
  Choice choice;
  choice.order = order;
  return choice;
}

const auto names = [](const char* name) { return Field(&Item::name, name); };

TEST(TopView, RatesAreDifferencesByTime) {
  const Sums before = sums_at(10, 100, 1000);
  const View view = make_view(&before, sums_at(12, 300, 5000), {});
  ASSERT_THAT(view.functions, ElementsAre(names("hipMemcpy"), names("hipLaunchKernel")));
  const Item& copy = view.functions[0];
  EXPECT_EQ(copy.calls, 305);
  EXPECT_EQ(copy.total_ns, 300'005'000);
  EXPECT_DOUBLE_EQ(copy.rates->calls, 100);
  EXPECT_DOUBLE_EQ(copy.rates->time, 0.1);
  EXPECT_DOUBLE_EQ(view.functions[1].rates->errors, 200);
  EXPECT_DOUBLE_EQ(view.whole.rates->calls, 2100);
  EXPECT_DOUBLE_EQ(view.whole.rates->launches, 2000);
  EXPECT_DOUBLE_EQ(view.whole.rates->time, 0.1);
  EXPECT_EQ(view.whole.calls, 5300);
}

TEST(TopView, WithoutEarlierSumsThereAreTotalsAlone) {
  const View view = make_view(nullptr, sums_at(12, 300, 5000), {});
  EXPECT_FALSE(view.functions[0].rates);
  EXPECT_FALSE(view.whole.rates);
  EXPECT_EQ(view.window_ns, 0);
  EXPECT_EQ(view.whole.calls, 5300);
}

TEST(TopView, SumsThatBecameLessAreNoRate) {
  const Sums before = sums_at(10, 300, 5000);
  EXPECT_DOUBLE_EQ(make_view(&before, sums_at(12, 100, 5000), {}).functions[0].rates->calls, 0);
}

TEST(TopView, ShowsOneProcess) {
  const Sums before = sums_at(10, 100, 1000);
  Choice choice;
  choice.process = 2;
  const View view = make_view(&before, sums_at(12, 300, 5000), choice);
  EXPECT_THAT(view.functions, ElementsAre(names("hipLaunchKernel"), names("hipMemcpy")));
  EXPECT_EQ(view.functions[1].calls, 5);
  EXPECT_EQ(view.whole.pid, 4243);
  EXPECT_EQ(view.whole.calls, 5000);
  EXPECT_EQ(view.processes.size(), 2U);
  EXPECT_THAT(view.lines, ElementsAre(names("load.py:3 read")));
}

TEST(TopView, SortsByWhatIsAskedFor) {
  const Sums before = sums_at(10, 100, 1000), now = sums_at(12, 300, 5000);
  const auto first = [&](Order order) { return make_view(&before, now, sorted_by(order)).functions.front().name; };
  EXPECT_EQ(first(Order::Time), "hipMemcpy");
  EXPECT_EQ(first(Order::Calls), "hipLaunchKernel");
  EXPECT_EQ(first(Order::Errors), "hipLaunchKernel");
  EXPECT_EQ(first(Order::Name), "hipLaunchKernel");
  EXPECT_EQ(next(Order::Name), Order::Time);
}

TEST(TopView, FilterLeavesOutAndCounts) {
  Choice choice;
  choice.filter = *Filter::compile("MEM(cpy|set)");
  const View view = make_view(nullptr, sums_at(12, 300, 5000), choice);
  EXPECT_THAT(view.functions, ElementsAre(names("hipMemcpy")));
  EXPECT_EQ(view.functions_hidden, 1U);
  EXPECT_EQ(view.lines_hidden, 2U);
  EXPECT_FALSE(Filter::compile("("));
}

TEST(TopView, SamplesOfTheWindowAreAShare) {
  const Sums before = sums_at(10, 100, 1000), now = sums_at(12, 300, 5000);
  const View view = make_view(&before, now, {});
  EXPECT_EQ(view.lines[0].name, "train.py:7 step");
  EXPECT_DOUBLE_EQ(view.lines[0].rates->samples, 1);
  EXPECT_DOUBLE_EQ(view.lines[1].rates->samples, 0);
}

TEST(TopView, ProcessesWithoutCallsAreShownAlone) {
  Sums sums;
  sums.processes = {{.id = 1, .pid = 1, .command = "sh"}};
  EXPECT_EQ(make_view(nullptr, sums, {}).processes.size(), 1U);
  sums.processes.push_back({.id = 2, .pid = 2, .command = "python3", .calls = 3});
  EXPECT_EQ(make_view(nullptr, sums, {}).processes.size(), 1U);
}

TEST(TopHistory, KeepsAWindow) {
  History history(2 * kViewSecond);
  for (const std::int64_t second : {1, 2, 3, 4, 5}) history.add(sums_at(second, 0, 0), true);
  EXPECT_EQ(history.base()->at_ns, 3 * kViewSecond);
  EXPECT_TRUE(history.is_full());
}

TEST(TopHistory, ALongWindowIsThinned) {
  History history(3600 * kViewSecond);
  for (std::int64_t second = 1; second <= 5000; ++second) {
    Sums sums;
    sums.at_ns = second * kViewSecond;
    history.add(std::move(sums), true);
  }
  EXPECT_LE(history.size(), 64U);
  EXPECT_EQ(history.now().at_ns, 5000 * kViewSecond);
  EXPECT_TRUE(history.is_full());
  EXPECT_LT(history.covered_ns(), 3700 * kViewSecond);
}

TEST(TopHistory, FirstSumsOfAnUnknownMomentGo) {
  History history(2 * kViewSecond);
  history.add(sums_at(1, 0, 0), false);
  EXPECT_EQ(history.base(), nullptr);
  history.add(sums_at(2, 0, 0), true);
  EXPECT_EQ(history.base(), nullptr);
  history.add(sums_at(3, 0, 0), true);
  EXPECT_EQ(history.base()->at_ns, 2 * kViewSecond);
}

TEST(TopPace, ReadsAfterNewsAndSeldomWithout) {
  Pace pace(kViewSecond);
  EXPECT_TRUE(pace.is_due(10 * kViewSecond));
  pace.saw_mark(7, 10 * kViewSecond);
  pace.read_took(10 * kViewSecond, kViewSecond);
  pace.saw_mark(7, 11 * kViewSecond);
  EXPECT_FALSE(pace.is_due(11 * kViewSecond));
  pace.saw_mark(8, 11 * kViewSecond + 1);
  EXPECT_TRUE(pace.is_due(11 * kViewSecond + 50));
  EXPECT_EQ(pace.moment(11 * kViewSecond + 50), 11 * kViewSecond + 1);
  pace.read_took(11 * kViewSecond, 0);
  EXPECT_TRUE(pace.is_due(13 * kViewSecond));
  EXPECT_EQ(pace.moment(13 * kViewSecond), 13 * kViewSecond);
}

TEST(TopPace, ReadingThatTakesLongIsDoneLessOften) {
  Pace pace(kViewSecond);
  pace.saw_mark(1, 0);
  pace.read_took(0, kViewSecond);
  pace.saw_mark(2, kViewSecond);
  EXPECT_TRUE(pace.is_due(kViewSecond));
  pace.read_took(kViewSecond, kViewSecond / 10);
  pace.saw_mark(3, 2 * kViewSecond);
  EXPECT_FALSE(pace.is_due(3 * kViewSecond));
  EXPECT_TRUE(pace.is_due(5 * kViewSecond));
}

TEST(TopKeys, EachHasItsOwnMeaning) {
  for (const Key& key : keys()) EXPECT_EQ(action_of(key.key), key.action) << key.name;
  EXPECT_EQ(action_of('h'), Action::Help);
  EXPECT_EQ(action_of('x'), Action::None);
}

}  // namespace
}  // namespace fade::cli::top
