// hide-device= of --inject: the variable that a program is started with.
#include "supervisor/hidden_devices.hpp"

#include <gmock/gmock.h>

namespace fade {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

probes::Injections rules_of(std::vector<std::string> texts) {
  std::vector<probes::InjectionText> rules;
  for (std::string& text : texts) rules.push_back({std::move(text)});
  auto out = probes::Injections::parse(rules, {});
  EXPECT_TRUE(out) << out.error().text();
  return std::move(*out);
}

struct Hidden {
  std::vector<std::string> rules;
  std::optional<std::size_t> gpus;
  std::vector<std::string> before;
  std::string was, became;
};
class HiddenDevices : public testing::TestWithParam<Hidden> {};

TEST_P(HiddenDevices, AreNotInTheList) {
  const Hidden& given = GetParam();
  std::vector<std::string> environment = given.before;
  const auto hidden = hide_devices(rules_of(given.rules), given.gpus, environment);
  ASSERT_TRUE(hidden) << hidden.error().text();
  ASSERT_EQ(hidden->size(), given.rules.size());
  EXPECT_EQ(hidden->front().was, given.was);
  EXPECT_EQ(hidden->front().became, given.became);
  EXPECT_EQ(std::ranges::count(environment, given.became), 1);
  EXPECT_EQ(std::ranges::count_if(environment, [](auto& item) { return item.starts_with("HIP_VISIBLE_DEVICES="); }), 1);
}

INSTANTIATE_TEST_SUITE_P(All, HiddenDevices,
                         testing::Values(Hidden{{"hide-device=1"}, 4, {"HOME=/"}, "", "HIP_VISIBLE_DEVICES=0,2,3"},
                                         Hidden{
                                             {"hide-device=0", "hide-device=2"}, 4, {}, "", "HIP_VISIBLE_DEVICES=1,3"},
                                         Hidden{{"hide-device=0"}, 1, {}, "", "HIP_VISIBLE_DEVICES=-1"},
                                         Hidden{{"hide-device=1"},
                                                4,
                                                {"HIP_VISIBLE_DEVICES=3,1,0", "CUDA_VISIBLE_DEVICES=2"},
                                                "HIP_VISIBLE_DEVICES=3,1,0",
                                                "HIP_VISIBLE_DEVICES=3,0"},
                                         Hidden{{"hide-device=0"},
                                                4,
                                                {"HIP_VISIBLE_DEVICES=", "CUDA_VISIBLE_DEVICES=GPU-1a,GPU-2b"},
                                                "CUDA_VISIBLE_DEVICES=GPU-1a,GPU-2b",
                                                "HIP_VISIBLE_DEVICES=GPU-2b"}));

TEST(HiddenDevice, IsLeftOutWhereTheNumberOfGpusIsUnknown) {
  std::vector<std::string> environment;
  ASSERT_TRUE(hide_devices(rules_of({"hide-device=1"}), std::nullopt, environment));
  ASSERT_EQ(environment.size(), 1u);
  EXPECT_TRUE(environment[0].starts_with("HIP_VISIBLE_DEVICES=0,2,3,")) << environment[0];
}

TEST(HiddenDevice, MustBeThere) {
  std::vector<std::string> environment{"HOME=/"};
  const auto hidden = hide_devices(rules_of({"hide-device=2"}), 2, environment);
  ASSERT_FALSE(hidden);
  EXPECT_THAT(hidden.error().text(), testing::AllOf(HasSubstr("would see 2 devices"), HasSubstr("from 0 to 1")));
  EXPECT_THAT(environment, ElementsAre("HOME=/"));
}

TEST(HiddenDevice, IsNoneOfOtherRules) {
  std::vector<std::string> environment{"HIP_VISIBLE_DEVICES=1"};
  const auto hidden = hide_devices(rules_of({"fewer-devices=1"}), 2, environment);
  ASSERT_TRUE(hidden);
  EXPECT_TRUE(hidden->empty());
  EXPECT_THAT(environment, ElementsAre("HIP_VISIBLE_DEVICES=1"));
}

}  // namespace
}  // namespace fade
