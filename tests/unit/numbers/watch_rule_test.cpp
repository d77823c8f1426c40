#include "numbers/watch_rule.hpp"

#include <gmock/gmock.h>

#include "numbers/byte_rate.hpp"

namespace fade::numbers {
namespace {

using testing::HasSubstr;

TEST(WatchRule, AllWords) {
  const auto rule = parse_watch_rule("nan,inf,range=-1e4..2.5,checksum,sample=10,dtype=bf16,rate=2G,most=512K");
  ASSERT_TRUE(rule) << rule.error().text();
  EXPECT_TRUE(rule->looked.nan && rule->looked.inf && rule->checksum && rule->looked.limits.are_watched);
  EXPECT_EQ(rule->looked.limits.least, -1e4);
  EXPECT_EQ(rule->looked.limits.greatest, 2.5);
  EXPECT_EQ(rule->every, 10u);
  EXPECT_EQ(rule->dtype, Dtype::BF16);
  EXPECT_EQ(rule->bytes_per_second, std::uint64_t{2} << 30);
  EXPECT_EQ(rule->most_bytes, 512u << 10);
}

TEST(WatchRule, OneSideOfARangeMayBeOpenAndARangeNeedNoLimits) {
  EXPECT_EQ(parse_watch_rule("range=..3")->looked.limits.greatest, 3);
  EXPECT_EQ(parse_watch_rule("range=0..")->looked.limits.least, 0);
  EXPECT_TRUE(parse_watch_rule("range")->looks_at_elements());
  EXPECT_FALSE(parse_watch_rule("")->is_on());
  EXPECT_FALSE(parse_watch_rule("checksum")->looks_at_elements());
}

struct Wrong {
  const char* text;
  int column;
  const char* words;
};

TEST(WatchRule, ErrorsNameTheColumn) {
  for (const Wrong& wrong :
       {Wrong{"nam", 1, "did you mean 'nan'"}, Wrong{"nan,chekcsum", 5, "did you mean 'checksum'"},
        Wrong{"nan,", 5, "''"}, Wrong{"nan=3", 5, "takes no value"}, Wrong{"nan,range=3..1", 11, "empty"},
        Wrong{"nan,range=a..1", 11, "'a' is no number"}, Wrong{"range=1", 7, "LEAST..GREATEST"},
        Wrong{"range=nan..1", 7, "no number"}, Wrong{"nan,sample=0", 12, "from 1 on"},
        Wrong{"nan,sample", 5, "from 1 on"}, Wrong{"nan,dtype=fp32", 11, "did you mean 'f32'"},
        Wrong{"nan,rate=fast", 10, "no size"}, Wrong{"nan,most=0", 10, "no size"},
        Wrong{"sample=3", 1, "nothing to look for"}, Wrong{"nan,dtype=i32", 1, "no NaN"}}) {
    const auto rule = parse_watch_rule(wrong.text);
    ASSERT_FALSE(rule) << wrong.text;
    EXPECT_THAT(rule.error().message, HasSubstr("--watch-numbers:" + std::to_string(wrong.column) + ":")) << wrong.text;
    EXPECT_THAT(rule.error().message, HasSubstr(wrong.words)) << wrong.text;
    EXPECT_EQ(rule.error().code, EINVAL);
  }
  EXPECT_FALSE(parse_watch_rule(std::string(400, 'x')));
}

TEST(ByteRate, UnusedBytesOfASecondMayBeUsedAtOnce) {
  ByteRate rate(1000);
  constexpr std::int64_t kSecond = 1'000'000'000;
  EXPECT_TRUE(rate.take(900, 0));
  EXPECT_FALSE(rate.take(200, 0));
  EXPECT_TRUE(rate.take(200, kSecond / 10));
  EXPECT_FALSE(rate.take(1001, 100 * kSecond));
  EXPECT_TRUE(rate.take(1000, 100 * kSecond));
  EXPECT_FALSE(rate.take(1, 50 * kSecond));  // a clock that goes back earns nothing
}

}  // namespace
}  // namespace fade::numbers
