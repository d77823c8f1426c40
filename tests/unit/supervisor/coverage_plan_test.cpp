#include "supervisor/coverage_plan.hpp"

#include <gmock/gmock.h>

namespace fade {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(ShownOptions, CanBePasted) {
  EXPECT_EQ(shown_options({"-e", "mem,copy", "--delay", "1s"}), "-e mem,copy --delay 1s");
  EXPECT_EQ(shown_options({"--include", "a|b", "--step", "it's"}), "--include 'a|b' --step 'it'\\''s'");
  EXPECT_EQ(shown_options({}), "");
}

TEST(ShownOptions, HoldNoSecret) {
  for (const std::vector<std::string>& typed :
       {std::vector<std::string>{"-E", "API_KEY=hush"}, {"--env=HF_TOKEN=hush"}, {"-EMY_SECRET=hush"}})
    EXPECT_THAT(shown_options(typed), Not(HasSubstr("hush"))) << typed[0];
  EXPECT_EQ(shown_options({"-E", "RANK=3"}), "-E RANK=3");
}

struct CoverageOf : ::testing::Test {
  RecordingOptions options;

  Coverage plan() const {
    const auto chosen = choose_probes(options);
    const auto session = session_options(options, *chosen, {});
    return coverage_of(options, *chosen, session->wishes);
  }
  // What leaves out functions of a kind; "" is there where some are watched.
  std::vector<std::string> why(const std::string& kind) const {
    std::vector<std::string> out;
    for (const Coverage::Functions& f : plan().functions)
      if (f.api == "hip" && f.kind == kind) out.push_back(f.why);
    return out;
  }
};

TEST_F(CoverageOf, NothingButHotFunctionsIsLeftOutByDefault) {
  for (const Coverage::Functions& f : plan().functions)
    EXPECT_TRUE(f.why.empty() || f.why == "hot") << f.kind << ' ' << f.why;
}

TEST_F(CoverageOf, EachFunctionIsCountedOnce) {
  options.exclude = {"^hipFree$"};
  std::int64_t n = 0;
  for (const Coverage::Functions& f : plan().functions) n += f.n;
  EXPECT_EQ(n, static_cast<std::int64_t>(choose_probes(options)->known.size()));
}

TEST_F(CoverageOf, GroupsAreLeftOutByEvents) {
  options.events = {"mem"};
  EXPECT_THAT(why("launch"), ::testing::Each("events"));
  EXPECT_THAT(why("alloc"), ::testing::Each(""));
}

TEST_F(CoverageOf, AFunctionThatIsExcludedIsNamed) {
  options.exclude = {"^hipFree$"};
  EXPECT_THAT(why("free"), Contains(""));
  EXPECT_THAT(plan().functions, Contains(::testing::AllOf(::testing::Field(&Coverage::Functions::why, "exclude"),
                                                          ::testing::Field(&Coverage::Functions::names, "hipFree"))));
}

TEST_F(CoverageOf, WhatIsNotIncludedIsLeftOut) {
  options.include = {"^hipFree$"};
  EXPECT_THAT(why("alloc"), ::testing::Each("include"));
}

TEST_F(CoverageOf, FiltersAreRows) {
  options.kernel_include = {"gemm"};
  options.follow = false;
  options.delay_ns = 5;
  std::vector<std::string> kinds;
  for (const Coverage::Filter& f : plan().filters) kinds.push_back(f.kind + "=" + f.value);
  EXPECT_THAT(kinds, ::testing::ElementsAre("kernel-include=gemm", "follow=no", "delay=5", "detail=calls"));
}

}  // namespace
}  // namespace fade
