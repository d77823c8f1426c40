#include <gmock/gmock.h>

#include "base/quantity.hpp"
#include "cli/options/values.hpp"

namespace fade::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Digits, AreOneOrMoreAndNothingElse) {
  EXPECT_TRUE(is_digits("4242"));
  for (const char* other : {"", "-1", "4 2", "0x10", "12a"}) EXPECT_FALSE(is_digits(other)) << other;
}

TEST(Times, HaveUnitsAndDefaultToSeconds) {
  EXPECT_EQ(*parse_time("30"), 30'000'000'000);
  EXPECT_EQ(*parse_time("500ms"), 500'000'000);
  EXPECT_EQ(*parse_time("1.5s"), 1'500'000'000);
  EXPECT_EQ(*parse_time("5m"), 300'000'000'000);
  EXPECT_EQ(*parse_time("1h"), 3'600'000'000'000);
  EXPECT_EQ(*parse_time("250us"), 250'000);
}

TEST(Times, RefuseWhatIsNone) {
  for (const char* text :
       {"", "s", "-3s", "1e9", "nan", "inf", "0x10", "5 s", "1.2.3s", "5weeks", "99999999999999999999h", "."})
    EXPECT_FALSE(parse_time(text).has_value()) << text;
  EXPECT_EQ(parse_time("5weeks").error().fix, "write 500ms, 30s, 5m or 1h");
}

TEST(Sizes, ArePowersOf1024HoweverWritten) {
  EXPECT_EQ(*parse_size("512"), 512u);
  for (const char* text : {"2K", "2k", "2KB", "2KiB", "2048b"}) EXPECT_EQ(*parse_size(text), 2048u) << text;
  EXPECT_EQ(*parse_size("1.5G"), 1610612736u);
  EXPECT_FALSE(parse_size("99999999T").has_value());
  EXPECT_FALSE(parse_size("2X").has_value());
  EXPECT_FALSE(parse_size("2ms").has_value());
}

struct Fields {
  bool flag = false;
  int count = 0;
  std::vector<std::string> list, each;
  std::optional<std::int64_t> number;
  std::optional<std::string> maybe;
  enum class Level { Low, High } level = Level::Low;
};

Result<void> give(Target target, std::vector<std::string> given) {
  return assign(Option{"Group", "--thing", "X", "a thing", std::move(target)}, given);
}

TEST(Assign, PutsEachKindWhereTheRowSays) {
  Fields f;
  ASSERT_TRUE(give(Flag{&f.flag}, {"true"}));
  ASSERT_TRUE(give(Count{&f.count}, {"true", "true"}));
  ASSERT_TRUE(give(List{&f.list}, {"a,b", "-c"}));
  ASSERT_TRUE(give(Each{&f.each}, {"a,b", "c"}));
  ASSERT_TRUE(give(Number{&f.number, 1, 10}, {"3", "7"}));
  ASSERT_TRUE(give(choice(f.level, {"low", "high"}), {"high"}));
  EXPECT_TRUE(f.flag);
  EXPECT_EQ(f.count, 2);
  EXPECT_THAT(f.list, ElementsAre("a", "b", "-c"));
  EXPECT_THAT(f.each, ElementsAre("a,b", "c"));
  EXPECT_EQ(f.number, 7);
  EXPECT_EQ(f.level, Fields::Level::High);
}

TEST(Assign, LeavesWhatWasNotGiven) {
  Fields f;
  f.list = {"kept"};
  ASSERT_TRUE(give(List{&f.list}, {}));
  EXPECT_THAT(f.list, ElementsAre("kept"));
}

TEST(Assign, AnOptionalValueMayBeLeftOut) {
  Fields f;
  ASSERT_TRUE(give(MaybeText{&f.maybe, "1"}, {"true"}));
  EXPECT_EQ(f.maybe, "1");
  ASSERT_TRUE(give(MaybeText{&f.maybe, "1"}, {"5"}));
  EXPECT_EQ(f.maybe, "5");
}

TEST(Assign, SaysWhatWouldHaveFitted) {
  Fields f;
  EXPECT_THAT(give(choice(f.level, {"low", "high"}), {"mid"}).error().message,
              HasSubstr("'mid' is not one of low, high"));
  EXPECT_THAT(give(Number{&f.number, 1, 10}, {"11"}).error().message, HasSubstr("not between 1 and 10"));
  EXPECT_THAT(give(Number{&f.number, 1, 10}, {"3x"}).error().message, HasSubstr("not a whole number"));
  EXPECT_FALSE(give(Flag{&f.flag}, {"maybe"}).has_value());
}

}  // namespace
}  // namespace fade::cli
