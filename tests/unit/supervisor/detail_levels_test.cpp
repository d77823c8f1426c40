// --detail, as users write it.
#include "supervisor/detail_levels.hpp"

#include <gmock/gmock.h>

namespace fade {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::string levels_text(const std::string& text) {
  const auto levels = parse_detail(text, {});
  return levels ? levels->text() : levels.error().text();
}
std::string levels_refusal(const std::string& text) {
  const auto levels = parse_detail(text, {});
  if (levels) return "understood";
  return levels.error().code == EINVAL ? levels.error().text() : "another code";
}

TEST(DetailLevels, AreOneLevelForAll) {
  EXPECT_EQ(levels_text(""), "calls");
  EXPECT_EQ(levels_text("stats"), "stats");
  EXPECT_EQ(*parse_detail("full", {}), DetailLevels(Detail::Full));
}

TEST(DetailLevels, OfGroupsAreBesideTheLevelOfTheRest) {
  const auto levels = parse_detail("mem=full,sync=stats", {});
  ASSERT_TRUE(levels);
  EXPECT_EQ(levels->of("hip", "mem"), Detail::Full);
  EXPECT_EQ(levels->of("cuda", "sync"), Detail::Stats);
  EXPECT_EQ(levels->of("hip", "copy"), Detail::Calls);
  EXPECT_EQ(levels->text(), "calls,mem=full,sync=stats");
  EXPECT_EQ(levels_text("sync=stats,full,mem=calls"), "full,mem=calls,sync=stats") << "the rest is first";
}

TEST(DetailLevels, KnowSynonymsLibrariesAndOperators) {
  EXPECT_EQ(levels_text("launches=stats,blas=full,ops=stats,user=full"),
            "calls,blas=full,kernel=stats,ops=stats,user=full");
}

TEST(DetailLevels, OfAGroupAreBeforeThoseOfItsApi) {
  const auto levels = parse_detail("calls,hip=stats,mem=calls", {});
  ASSERT_TRUE(levels);
  EXPECT_EQ(levels->of("hip", "mem"), Detail::Calls);
  EXPECT_EQ(levels->of("hip", "sync"), Detail::Stats);
  EXPECT_EQ(levels->of("cuda", "sync"), Detail::Calls);
}

TEST(DetailLevels, ThatAreAllAlikeAreOne) {
  EXPECT_EQ(levels_text("stats,mem=stats,copy=stats"), "stats");
  EXPECT_FALSE(parse_detail("stats,mem=stats", {})->has_rows());
  EXPECT_TRUE(parse_detail("stats,mem=calls", {})->has_rows());
}

TEST(DetailLevels, ThatCannotBeUnderstoodSaySo) {
  EXPECT_THAT(levels_refusal("ful"), HasSubstr("'ful' is not one of stats, calls, full (did you mean 'full'?)"));
  EXPECT_THAT(levels_refusal("calls,mem=ful"), HasSubstr("'ful' is not one of stats, calls, full"));
  EXPECT_THAT(levels_refusal("calls,mem="), HasSubstr("'' is not one of stats, calls, full"));
  EXPECT_THAT(levels_refusal("calls,,mem=full"), HasSubstr("'' is not one of"));
  EXPECT_THAT(levels_refusal("calls,=full"), HasSubstr("no group is called ''"));
  EXPECT_THAT(levels_refusal("memm=full"), AllOf(HasSubstr("no group is called 'memm' (did you mean 'mem'?)"),
                                                 HasSubstr("groups are"), HasSubstr("kernel"), HasSubstr("blas")));
  EXPECT_THAT(levels_refusal("mem=full,memory=stats"), HasSubstr("the group 'mem' is named twice"));
  EXPECT_THAT(levels_refusal("stats,mem=full,full"), HasSubstr("two levels are for all other groups"));
}

}  // namespace
}  // namespace fade
