#include "cli/options/typed.hpp"

#include <gmock/gmock.h>

namespace fade::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

struct Typed : ::testing::Test {
  std::string output;
  std::vector<std::string> events;
  bool quiet = false;
  std::vector<Option> rows{{"Output", "-o,--output", "FILE", "where to write", Text{&output}},
                           {"Capture", "-e,--events", "LIST", "what to record", List{&events}},
                           {"General", "-q,--quiet", "", "say less", Flag{&quiet}}};
};

TEST_F(Typed, OptionsKeepTheirSpellingAndOrder) {
  EXPECT_THAT(typed_options(rows, Words::Command, {"-e", "mem", "--output=x.db", "-qe", "copy", "prog", "-e", "sync"}),
              ElementsAre("-e", "mem", "--output=x.db", "-qe", "copy"));
}

TEST_F(Typed, ACommandAndWhatFollowsItAreNoOptions) {
  EXPECT_THAT(typed_options(rows, Words::Command, {"-q", "--", "-e", "mem"}), ElementsAre("-q"));
  EXPECT_THAT(typed_options(rows, Words::Command, {"prog", "-q"}), IsEmpty());
}

TEST_F(Typed, WordsBetweenOptionsAreLeftOut) {
  EXPECT_THAT(typed_options(rows, Words::Any, {"attach", "-e", "mem", "4242", "-q", "7"}),
              ElementsAre("-e", "mem", "-q"));
  EXPECT_THAT(typed_options(rows, Words::Any, {"-e", "-q", "4242"}), ElementsAre("-e", "-q"));
}

TEST_F(Typed, AConfigurationFileNamesKeys) {
  Given given;
  given.values = {{"x.db"}, {"mem", "copy"}, {}};
  EXPECT_THAT(typed_options(rows, given), ElementsAre("--output=x.db", "--events=mem", "--events=copy"));
}

}  // namespace
}  // namespace fade::cli
