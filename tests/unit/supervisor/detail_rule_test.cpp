// --schedule, --window, --trigger and --keep, as users write them.
#include "supervisor/detail_rule.hpp"

#include <gmock/gmock.h>

namespace fade {
namespace {

using DetailBy = DetailRule::By;
using ::testing::HasSubstr;

RecordingOptions with_schedule(std::string text, std::string step = "range:step*") {
  RecordingOptions options;
  options.schedule = std::move(text);
  options.step = std::move(step);
  return options;
}
RecordingOptions with_window(std::string text) {
  RecordingOptions options;
  options.window = std::move(text);
  return options;
}
RecordingOptions with_triggers(std::vector<std::string> words, std::string step = {}) {
  RecordingOptions options;
  options.triggers = std::move(words);
  options.step = std::move(step);
  return options;
}
std::string detail_refusal(const RecordingOptions& options) {
  const auto rule = parse_detail_rule(options);
  if (rule) return "understood";
  return rule.error().code == EINVAL ? rule.error().text() : "another code";
}

TEST(DetailRules, OfNothingKeepRowsAtAllTimes) { EXPECT_EQ(parse_detail_rule({})->by, DetailBy::Always); }

TEST(DetailRules, OfSteps) {
  const auto rule = parse_detail_rule(with_schedule("skip=10,wait=5,warmup=1,active=3,repeat=2"));
  ASSERT_TRUE(rule);
  EXPECT_EQ(rule->by, DetailBy::Steps);
  EXPECT_EQ(rule->text, "--schedule skip=10,wait=5,warmup=1,active=3,repeat=2");
  EXPECT_EQ((std::vector{rule->skip, rule->wait, rule->warmup, rule->active, rule->repeat}),
            (std::vector<std::uint64_t>{10, 5, 1, 3, 2}));
}

TEST(DetailRules, OfTime) {
  const auto rule = parse_detail_rule(with_window("60s/10s"));
  ASSERT_TRUE(rule);
  EXPECT_EQ(rule->by, DetailBy::Time);
  EXPECT_EQ(rule->period_ns, 60'000'000'000);
  EXPECT_EQ(rule->detail_ns, 10'000'000'000);
}

TEST(DetailRules, OfTriggers) {
  RecordingOptions options =
      with_triggers({"error", "slow-step=2.5x", "memory>14G", "signal=USR2", "mark"}, "hipMalloc");
  options.keep_ns = 5'000'000'000;
  const auto rule = parse_detail_rule(options);
  ASSERT_TRUE(rule) << rule.error().text();
  EXPECT_EQ(rule->by, DetailBy::Trigger);
  EXPECT_TRUE(rule->on_error && rule->on_mark);
  EXPECT_EQ(rule->slow_step, 2.5);
  EXPECT_EQ(rule->memory, std::uint64_t{14} << 30);
  EXPECT_EQ(rule->signal, 12);
  EXPECT_EQ(rule->keep_ns, 5'000'000'000);
  EXPECT_EQ(parse_detail_rule(with_triggers({"signal=SIGHUP"}))->signal, 1);
  EXPECT_EQ(parse_detail_rule(with_triggers({"signal=10"}))->signal, 10);
}

TEST(DetailRules, AreRefusedWithThePlaceAndAnExample) {
  EXPECT_THAT(detail_refusal(with_schedule("skip=10,wiat=5,active=1")), HasSubstr("'wiat=5'"));
  EXPECT_THAT(detail_refusal(with_schedule("skip=10,wiat=5,active=1")), HasSubstr("wait"));
  EXPECT_THAT(detail_refusal(with_schedule("active=three")), HasSubstr("--schedule skip=10,wait=5"));
  for (const char* text :
       {"active=-1", "active", "wait=1", "active=0", "3", "active=1,,wait=x", "active=99999999999999999999"})
    EXPECT_THAT(detail_refusal(with_schedule(text)), HasSubstr("--schedule")) << text;
  for (const char* text :
       {"60s", "10s/60s", "60s/0s", "60s/60s", "a/b", "/", "60s/", "60s/10s/1s", "2ns/1ns", "99ms/1ms"})
    EXPECT_THAT(detail_refusal(with_window(text)), HasSubstr("--window 60s/10s")) << text;
  for (const char* text :
       {"errors", "error=1", "memory>", "memory>x", "memory=1G", "signal=", "signal=NONE", "signal=65", "marks", ""})
    EXPECT_THAT(detail_refusal(with_triggers({text})), HasSubstr("--trigger error,slow-step=3x")) << text;
  for (const char* text : {"slow-step=", "slow-step=1x", "slow-step=x", "slow-step=-3x"})
    EXPECT_THAT(detail_refusal(with_triggers({text}, "hipMalloc")), HasSubstr("3x")) << text;
}

TEST(DetailRules, HaveAPeriodThatIsNotTooShort) {
  EXPECT_THAT(detail_refusal(with_window("2ns/1ns")), HasSubstr("100ms or longer"));
  EXPECT_THAT(detail_refusal(with_window("100ms/100ms")), HasSubstr("shorter than the period"));
  EXPECT_EQ(detail_refusal(with_window("100ms/1ms")), "understood");
}

TEST(DetailRules, RefuseASignalThatFadeCannotSee) {
  for (const char* text : {"signal=KILL", "signal=SIGKILL", "signal=9"}) {
    EXPECT_THAT(detail_refusal(with_triggers({text})), HasSubstr("no stop of ptrace shows SIGKILL")) << text;
    EXPECT_THAT(detail_refusal(with_triggers({text})), HasSubstr("--trigger signal=USR2")) << text;
  }
}

TEST(DetailRules, NeedSteps) {
  EXPECT_THAT(detail_refusal(with_schedule("active=1", "")), HasSubstr("--step 'range:step*'"));
  EXPECT_THAT(detail_refusal(with_schedule("active=1", "off")), HasSubstr("no step is defined"));
  EXPECT_THAT(detail_refusal(with_triggers({"slow-step=3x"})), HasSubstr("no step is defined"));
}

TEST(DetailRules, ExcludeEachOther) {
  RecordingOptions both = with_window("60s/10s");
  both.triggers = {"error"};
  EXPECT_THAT(detail_refusal(both), HasSubstr("exclude each other"));
  RecordingOptions stats = with_window("60s/10s");
  stats.detail = Detail::Stats;
  EXPECT_THAT(detail_refusal(stats), HasSubstr("--detail stats"));
  RecordingOptions keep;
  keep.keep_ns = 1;
  EXPECT_THAT(detail_refusal(keep), HasSubstr("--keep belongs to --trigger"));
  RecordingOptions nothing = with_triggers({"error"});
  nothing.keep_ns = 0;
  EXPECT_THAT(detail_refusal(nothing), HasSubstr("--keep"));
}

}  // namespace
}  // namespace fade
