// --ab: its rules, what kernels and outputs are compared by, the order of runs, and the report as people read it.
#include <gmock/gmock.h>

#include <algorithm>
#include <functional>

#include "cli/ab/kernel_changes.hpp"
#include "cli/ab/report.hpp"
#include "cli/ab/rules.hpp"
#include "cli/ab/statistics.hpp"
#include "cli/table/text.hpp"

namespace fade::cli::ab {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

const std::string kRule = "device.*.multiProcessorCount=72";

Output output(std::string text) { return {text.size(), std::hash<std::string>{}(text), text}; }

// Without 1 s and with 0.9 s, a little apart from run to run; the grid follows the rule.
Figures run(std::size_t index, double seconds_without = 1.0, double seconds_with = 0.9) {
  Figures f;
  f.with_rules = has_rules(index);
  f.session = static_cast<std::int64_t>(index + 1);
  f.wall_ns = static_cast<std::int64_t>(1e9 * (f.with_rules ? seconds_with : seconds_without)) +
              static_cast<std::int64_t>(index % 4) * 1'000'000;
  f.cpu_ns = f.wall_ns / 2;
  f.calls = 1234;
  f.output = output("loss 0.5\ndone\n");
  f.kernels = {{"scale(float*)", f.with_rules ? "72x1x1" : "36x1x1", "64x1x1", 10}, {"other", "4x1x1", "32x1x1", 1}};
  if (f.with_rules) f.rules = {{kRule, 1, "36", "72"}};
  return f;
}

Series series(std::size_t pairs, double seconds_without = 1.0, double seconds_with = 0.9) {
  Series s{.pairs = pairs, .database = "fade-app-7.db"};
  for (std::size_t i = 0; i < 2 * pairs; ++i) s.runs.push_back(run(i, seconds_without, seconds_with));
  return s;
}

std::string told(const Series& s) { return report(s, {kRule}, {}); }

TEST(Rules, StandApartBySemicolons) {
  EXPECT_THAT(split_rules("a=1; b=2 ;;c=3;"), ElementsAre("a=1", "b=2", "c=3"));
  EXPECT_THAT(split_rules(R"(device.0.name="a;b";x='c;d')"), ElementsAre(R"(device.0.name="a;b")", "x='c;d'"));
  EXPECT_THAT(split_rules(" ; \n"), IsEmpty());
}

TEST(Order, TheFirstOfAPairChanges) {
  std::string order;
  for (std::size_t i = 0; i < 8; ++i) order += has_rules(i) ? 'B' : 'A';
  EXPECT_EQ(order, "ABBAABBA");
}

TEST(Report, SaysWhatAnEngineerAsks) {
  const std::string text = told(series(5));
  for (const char* words :
       {"5 pairs of runs without and with 1 rule", "applied 5 times, in all runs with it: 36 became 72", "wall time",
        "1,234", "same", "faster with the rules by more than the noise", "10.0 %", "95 % interval",
        "the same in all runs (14 bytes)", "Grids changed of 1 of 2 kernels",
        "without  grid 36x1x1, block 64x1x1 (10 launches a run)",
        "with     grid 72x1x1, block 64x1x1 (10 launches a run)",
        "fade-query fade-app-7.db summary --session 2\n    runs without the rules are sessions 1, 4, 5, 8, 9; with "
        "them 2, 3, 6, 7, 10"})
    EXPECT_THAT(text, HasSubstr(words));
  EXPECT_THAT(text, Not(HasSubstr("never applied")));
}

// What is said besides depends on how the runs went.
TEST(Report, FitsEightyColumns) {
  const std::vector<std::pair<const char*, std::function<void(Series&)>>> turns{
      {"(10 launches a run)",
       [](Series& s) {
         for (Figures& f : s.runs) f.kernels[0].kernel = std::string(300, 'k');
       }},
      {"cold caches?", [](Series& s) { s.runs[0].wall_ns = 9'000'000'000; }},
      {"fade's own stops",
       [](Series& s) {
         for (Figures& f : s.runs) f.held_ns = f.wall_ns * 3 / 4;
       }},
      {"ever applied",
       [](Series& s) {
         for (Figures& f : s.runs) f.rules.clear();
       }},
      {"not recorded",
       [](Series& s) {
         for (Figures& f : s.runs) f.dropped = 123'456'789;
       }},
      {"interrupted",
       [](Series& s) {
         s.stopped = RunOutcome{.interrupted = true};
         s.pairs = 1000;
       }},
      {" h ",
       [](Series& s) {
         for (std::size_t i = 0; i < s.runs.size(); ++i)
           s.runs[i].wall_ns = 100'000'000'000'000 + static_cast<std::int64_t>(i * i) * 1'000'000'000'000;
       }},
      {"SIGSEGV (2x)",
       [](Series& s) {
         for (std::size_t i = 0; i < 4; ++i) s.runs[i].exit_signal = 11;
       }},
      {"3 kinds", [](Series& s) {
         for (std::size_t i = 0; i < s.runs.size(); ++i) s.runs[i].exit_code = static_cast<int>(100 + i / 2 % 3);
       }}};
  for (const auto& [words, turn] : turns) {
    Series s = series(5);
    turn(s);
    const std::string text = told(s);
    EXPECT_THAT(text, HasSubstr(words));
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = text.find('\n', at);
      EXPECT_LE(table::display_width(text.substr(at, end - at)), 80u) << text.substr(at, end - at);
      at = end + 1;
    }
  }
}

TEST(Report, ClaimsNoSpeedThatIsNoise) {
  const std::string text = told(series(5, 1.0, 1.0));
  EXPECT_THAT(text, HasSubstr("no difference that is larger than the noise"));
  EXPECT_THAT(text, Not(HasSubstr("faster with")));
}

TEST(Report, CannotTellFromFewPairs) {
  const std::string text = told(series(2));
  EXPECT_THAT(text, HasSubstr("cannot tell: 2 pairs are too few, and a statement needs 5 or more"));
  EXPECT_THAT(text, Not(HasSubstr("faster with")));
}

TEST(Report, CannotTellWhereRunsFailed) {
  Series s = series(5);
  s.runs[2].exit_signal = 11;
  const std::string text = told(s);
  EXPECT_THAT(text, HasSubstr("not all runs succeeded"));
  EXPECT_THAT(text, HasSubstr("SIGSEGV (1x)"));
  EXPECT_EQ(exit_status(s), 139);
  s.runs[1].exit_code = 3;
  EXPECT_EQ(exit_status(s), 3);
  EXPECT_EQ(exit_status(series(5)), 0);
}

TEST(Report, WarnsOfRulesThatWereNeverApplied) {
  Series s = series(5);
  for (Figures& f : s.runs) f.rules.clear();
  EXPECT_THAT(told(s), HasSubstr("never applied: the program never read this property"));
  EXPECT_THAT(told(s), HasSubstr("none of the rules was ever applied"));
  s.runs[1].rules = {{kRule, 2, "36", "72"}};
  EXPECT_THAT(told(s), HasSubstr("applied 2 times, in 1 of 5 runs"));
}

TEST(Report, TellsOutputsApart) {
  Series s = series(5);
  for (Figures& f : s.runs)
    if (f.with_rules) f.output = output("loss 0.7\ndone\n");
  EXPECT_THAT(told(s), HasSubstr("different with the rules, and the same in all runs of either side\n    line 1\n    "
                                 "without  'loss 0.5'\n    with     'loss 0.7'"));
  s.runs[0].output = output("loss 0.6\ndone\n");
  EXPECT_THAT(told(s), HasSubstr("changes from run to run without the rules already"));
  s = series(5);
  s.runs[1].output = output("loss 0.5\ndone\nmore\n");
  EXPECT_THAT(told(s),
              HasSubstr("with them it changes between runs\n    line 3\n    without  ''\n    with     'more'"));
}

TEST(Report, OutputIsShownSafely) {
  Series s = series(5);
  for (Figures& f : s.runs)
    if (f.with_rules) f.output = output("\x1b[2J\n");
  EXPECT_THAT(told(s), Not(HasSubstr("\x1b")));
}

TEST(Report, AColdStartAndLossesAreSaid) {
  Series s = series(5);
  EXPECT_THAT(told(s), Not(HasSubstr("cold caches?")));
  s.runs[0].wall_ns = 9'000'000'000;
  s.runs[3].dropped = 7;
  EXPECT_THAT(told(s), HasSubstr("cold caches?"));
  EXPECT_THAT(told(s), HasSubstr("7 calls were not recorded"));
}

TEST(Report, StopsThatTakeMuchOfTheTimeAreSaid) {
  Series s = series(5);
  EXPECT_THAT(told(s), Not(HasSubstr("fade's own stops")));
  for (Figures& f : s.runs) f.held_ns = f.with_rules ? 0 : 80'000'000;
  EXPECT_THAT(told(s), HasSubstr("fade's own stops")) << "they are what differs";
  for (Figures& f : s.runs) f.held_ns = f.wall_ns * 3 / 4;
  EXPECT_THAT(told(s), HasSubstr("fade's own stops")) << "they are most of it";
}

TEST(Report, AnInterruptedSeriesCountsCompletePairs) {
  Series s = series(5);
  s.runs.resize(3);
  s.stopped = RunOutcome{.interrupted = true};
  EXPECT_THAT(told(s), HasSubstr("compared 1 pair of runs"));
  EXPECT_THAT(told(s), HasSubstr("interrupted: 1 of 5 pairs are complete"));
  s.runs.resize(1);
  EXPECT_THAT(told(s), HasSubstr("before the first pair"));
}

TEST(KernelChanges, GridsAreComparedAsSets) {
  Figures a, b;
  a.kernels = {{"same", "4x1x1", "64x1x1", 10}, {"gone", "1x1x1", "1x1x1", 1}, {"more", "4x1x1", "64x1x1", 4}};
  b.kernels = {{"same", "4x1x1", "64x1x1", 99}, {"more", "4x1x1", "64x1x1", 3}, {"more", "8x1x1", "64x1x1", 5}};
  const auto changes = kernel_changes({&a}, {&b});
  ASSERT_EQ(changes.size(), 2u);
  EXPECT_EQ(changes[0].kernel, "more");
  EXPECT_THAT(changes[0].with, HasSubstr("grid 8x1x1, block 64x1x1 (5 launches a run)\n             grid 4x1x1"));
  EXPECT_EQ(changes[1].kernel, "gone");
  EXPECT_EQ(changes[1].with, "not launched");
  EXPECT_EQ(changes[1].without, "grid 1x1x1, block 1x1x1 (1 launch a run)");
  EXPECT_EQ(number_of_kernels({&a}, {&b}), 3u);
}

TEST(Differences, AreShownWhereTheyAre) {
  const std::string same(200, 'x');
  const Difference d =
      first_difference(output("head\n" + same + "1\n"),
                       output("head\n" + same + "2, and so on, much longer than can be shown in one line\n"));
  EXPECT_EQ(d.place, "line 2");
  EXPECT_EQ(d.first, "'..." + same.substr(0, 24) + "1'");
  EXPECT_EQ(d.second, "'..." + same.substr(0, 24) + "2, and so on, much longer than c...'");
}

TEST(Differences, BeyondTheHeadAreOnlySaid) {
  const Difference d = first_difference({9, 1, "same"}, {9, 2, "same"});
  EXPECT_EQ(d.place, "beyond the first 4 bytes");
  EXPECT_TRUE(d.first.empty());
}

}  // namespace
}  // namespace fade::cli::ab
