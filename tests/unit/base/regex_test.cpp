#include "base/regex.hpp"

#include <gtest/gtest.h>

namespace fade {
namespace {

bool found(const std::string& pattern, std::string_view text) { return Regex::compile(pattern).value().found_in(text); }

TEST(RegexTest, FindsAPartOfTheText) {
  EXPECT_TRUE(found("Mem(cpy|set)$", "hipMemset"));
  EXPECT_FALSE(found("^Mem", "hipMemset"));
  EXPECT_TRUE(found(R"((a)\1)", "baac"));
}

TEST(RegexTest, TellsWhyATextIsNone) {
  const auto regex = Regex::compile("hip(");
  ASSERT_FALSE(regex.has_value());
  EXPECT_FALSE(regex.error().empty());
}

TEST(RegexTest, LooksAtTheBeginOfALongText) {
  const std::string long_text(10'000'000, 'a');
  EXPECT_TRUE(found("^aa", long_text));
  EXPECT_FALSE(found("b", long_text + "b"));
}

}  // namespace
}  // namespace fade
