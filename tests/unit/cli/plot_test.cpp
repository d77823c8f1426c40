#include "cli/query/plot.hpp"

#include <gmock/gmock.h>

namespace fade::query {
namespace {

using testing::ElementsAre;

TEST(Plot, FillsItsHeightWithTheLargestValue) {
  EXPECT_THAT(plot({0, 1, 2, 4}, {.height = 2}), ElementsAre("   █", " ▄██"));
  EXPECT_THAT(plot({0, 1, 2, 4}, {.height = 2, .utf8 = false}), ElementsAre("   #", " :##"));
}

TEST(Plot, ShowsWhatIsLittle) { EXPECT_THAT(plot({1, 1'000'000'000'000'000'000}, {}), ElementsAre("▁█")); }

TEST(Plot, OfNothingIsEmpty) {
  EXPECT_THAT(plot({0, -5}, {}), ElementsAre("  "));
  EXPECT_THAT(plot({}, {}), ElementsAre(""));
}

}  // namespace
}  // namespace fade::query
