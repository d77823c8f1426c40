#include "supervisor/output_name.hpp"

#include <gmock/gmock.h>

#include <set>

namespace fade {
namespace {

using ::testing::HasSubstr;

OutputNameFacts facts() {
  return {"/usr/bin/python3",
          4242,
          "node7",
          0,
          [](const std::string& name) -> std::optional<std::string> {
            if (name == "JOB") return "a/../b";
            return std::nullopt;
          },
          [] { return "3"; },
          [](const std::string&) { return false; }};
}

std::string expand(std::string_view pattern) {
  auto name = expand_output_name(pattern, facts());
  return name ? *name : "error: " + name.error().cause;
}

TEST(OutputName, DefaultIsProgramAndPid) { EXPECT_EQ(expand(""), "fade-python3-4242.db"); }

TEST(OutputName, ExpandsEveryPlaceholder) {
  EXPECT_EQ(expand("/data/%h/%e.%p.db"), "/data/node7/python3.4242.db");
  EXPECT_EQ(expand("run-%h-%r.db"), "run-node7-3.db");
  EXPECT_EQ(expand("100%%.db"), "100%.db");
  EXPECT_THAT(expand("%t.db"), ::testing::MatchesRegex("[0-9]{8}-[0-9]{6}\\.db"));
}

TEST(OutputName, ValuesFromOutsideStayInTheirDirectory) {
  EXPECT_EQ(expand("out/%q{JOB}.db"), "out/a_.._b.db");
  OutputNameFacts strange = facts();
  strange.program = "/opt/..\n";
  EXPECT_EQ(*expand_output_name("%e.db", strange), "_._.db");
  strange.program = "-rf";
  EXPECT_EQ(*expand_output_name("%e", strange), "_rf");
}

TEST(OutputName, ADefaultNameThatIsTakenGetsANumber) {
  OutputNameFacts taken = facts();
  EXPECT_EQ(*free_default_name(taken), "fade-python3-4242.db");
  std::set<std::string> there{"fade-python3-4242.db"};
  taken.exists = [&](const std::string& path) { return there.contains(path); };
  EXPECT_EQ(*free_default_name(taken), "fade-python3-4242-2.db");
  there.insert("fade-python3-4242-2.db");
  EXPECT_EQ(*free_default_name(taken), "fade-python3-4242-3.db");
}

TEST(OutputName, NumberIsTheFirstFree) {
  OutputNameFacts taken = facts();
  const std::set<std::string> there{"run-1.db", "run-2.db", "run-4.db"};
  taken.exists = [&](const std::string& path) { return there.contains(path); };
  EXPECT_EQ(*expand_output_name("run-%n.db", taken), "run-3.db");
}

TEST(OutputName, GivesUpWhereAllNumbersAreTaken) {
  OutputNameFacts taken = facts();
  taken.exists = [](const std::string&) { return true; };
  EXPECT_FALSE(expand_output_name("run-%n.db", taken).has_value());
}

TEST(OutputName, RefusesWhatItDoesNotKnow) {
  EXPECT_THAT(expand("%z.db"), HasSubstr("unknown '%z'"));
  EXPECT_THAT(expand("x%"), HasSubstr("unknown '%'"));
  EXPECT_THAT(expand("%q{HOME"), HasSubstr("%q{NAME}"));
  EXPECT_THAT(expand("%q"), HasSubstr("%q{NAME}"));
  EXPECT_THAT(expand("%q{NOT_SET}"), HasSubstr("NOT_SET is not set"));
}

TEST(OutputName, AProgramWithoutARankHasNoNameWithOne) {
  OutputNameFacts alone = facts();
  alone.rank = [] { return ""; };
  const auto name = expand_output_name("run-%r.db", alone);
  ASSERT_FALSE(name.has_value());
  EXPECT_THAT(name.error().cause, HasSubstr("no rank: none of RANK, OMPI_COMM_WORLD_RANK"));
}

TEST(OutputName, CanBeCheckedBeforeThereIsAPid) {
  EXPECT_TRUE(check_output_name("%e-%p-%r-%n.db").has_value());
  EXPECT_FALSE(check_output_name("%k").has_value());
}

}  // namespace
}  // namespace fade
