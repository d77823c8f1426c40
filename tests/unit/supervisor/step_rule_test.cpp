// --step, as users write it.
#include "supervisor/step_rule.hpp"

#include <gmock/gmock.h>

#include "probes/built_in.hpp"

namespace fade {
namespace {

using By = StepRule::By;
using ::testing::HasSubstr;

std::string shown(std::string_view text) {
  const auto rule = parse_step(text);
  if (!rule) return rule.error().code == EINVAL ? "refused" : "another error";
  if (rule->by == By::None) return "none";
  return (rule->by == By::Range ? "range " : "call ") + rule->pattern + " " + std::to_string(rule->every);
}

TEST(StepRules, AreUnderstood) {
  EXPECT_EQ(shown(""), "none");
  EXPECT_EQ(shown("off"), "none");
  EXPECT_EQ(shown("range:train_step*"), "range train_step* 1");
  EXPECT_EQ(shown("range:epoch 1: step*"), "range epoch 1: step* 1");
  EXPECT_EQ(shown("range:a/2"), "range a/2 1");
  EXPECT_EQ(shown("hipDeviceSynchronize"), "call hipDeviceSynchronize 1");
  EXPECT_EQ(shown("call:hipStreamSynchronize/20"), "call hipStreamSynchronize 20");
}

TEST(StepRules, AreRefusedWithAnExample) {
  for (const char* text :
       {"range:", "call:", "/3", "hipMalloc/", "hipMalloc/0", "hipMalloc/3x", "hipMalloc/-1", "ranges:x", "two words"})
    EXPECT_EQ(shown(text), "refused") << text;
  EXPECT_EQ(shown("range:" + std::string(300, 'x')), "refused");
  EXPECT_THAT(parse_step("range:").error().fix, HasSubstr("--step 'range:train_step*'"));
}

TEST(StepRules, NameFunctionsThatAreKnown) {
  const auto& known = probes::built_in_probes();
  EXPECT_TRUE(check_step(*parse_step("hipDeviceSynchronize"), known, {}));
  EXPECT_TRUE(check_step(*parse_step("hip*Synchronize"), known, {}));
  EXPECT_TRUE(check_step(*parse_step("my_step"), known, {"my_step"}));
  EXPECT_TRUE(check_step(*parse_step("range:whatever"), known, {}));
  const auto near = check_step(*parse_step("hipDeviceSyncronize"), known, {});
  ASSERT_FALSE(near);
  EXPECT_EQ(near.error().code, EINVAL);
  EXPECT_THAT(near.error().fix, HasSubstr("hipDeviceSynchronize"));
  EXPECT_THAT(check_step(*parse_step("train_step"), known, {}).error().fix, HasSubstr("range:train_step"));
}

TEST(StepRules, TurnOnWhatTheyNeed) {
  probes::Probe push, sync;
  push.group = "marker";
  sync.symbol = "hipDeviceSynchronize";
  EXPECT_TRUE(needs_for_steps(*parse_step("range:x"), push));
  EXPECT_FALSE(needs_for_steps(*parse_step("range:x"), sync));
  EXPECT_TRUE(needs_for_steps(*parse_step("hipDeviceSynchronize"), sync));
  EXPECT_FALSE(needs_for_steps(*parse_step(""), push));
}

}  // namespace
}  // namespace fade
