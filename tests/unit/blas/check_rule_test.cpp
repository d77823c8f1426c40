#include "blas/check_rule.hpp"

#include <gmock/gmock.h>

namespace fade::blas {
namespace {

using ::testing::StartsWith;

std::string refused(std::string_view text) {
  const auto rule = parse_check_rule(text);
  return rule ? "accepted" : rule.error().message;
}

TEST(CheckRule, TakesWhatTheManualSays) {
  const auto rule = parse_check_rule("blas,every=7,atol=1e-3,rtol=0.5,rtol.f16=0.25,most=1M,rate=2G,dumps=0");
  ASSERT_TRUE(rule) << rule.error().text();
  EXPECT_TRUE(rule->is_on);
  EXPECT_EQ(rule->every, 7u);
  EXPECT_EQ(rule->most_bytes, 1u << 20);
  EXPECT_EQ(rule->bytes_per_second, std::uint64_t{2} << 30);
  EXPECT_EQ(rule->dumps, 0u);
  EXPECT_EQ(rule->tolerance(Element::F64).absolute, 1e-3);
  EXPECT_EQ(rule->tolerance(Element::F64).relative, 0.5);
  EXPECT_EQ(rule->tolerance(Element::F16).relative, 0.25);
}

TEST(CheckRule, IsOffByDefaultAndHasUsualTolerances) {
  EXPECT_FALSE(parse_check_rule("")->is_on);
  const auto rule = parse_check_rule("blas");
  ASSERT_TRUE(rule);
  EXPECT_TRUE(rule->is_on);
  EXPECT_EQ(rule->tolerance(Element::F32).relative, default_tolerance(Element::F32).relative);
  EXPECT_LT(rule->tolerance(Element::F64).relative, rule->tolerance(Element::F32).relative);
  EXPECT_EQ(rule->tolerance(Element::I32).relative, 0);
}

TEST(CheckRule, ErrorsHaveTheirPlaceAndANearWord) {
  EXPECT_THAT(refused("dnn"), StartsWith("--check:1: 'dnn' cannot be checked"));
  EXPECT_THAT(refused("blas,evry=3"), StartsWith("--check:6: 'evry' is no part of a check (did you mean 'every'?)"));
  EXPECT_THAT(refused("blas,every=0"), StartsWith("--check:12: every= takes a number from 1 on"));
  EXPECT_THAT(refused("blas,every"), StartsWith("--check:12: every="));
  EXPECT_THAT(refused("blas,atol=-1"), StartsWith("--check:11: '-1' is no tolerance"));
  EXPECT_THAT(refused("blas,atol=nan"), StartsWith("--check:11: 'nan' is no tolerance"));
  EXPECT_THAT(refused("blas,rtol.f8=1"), StartsWith("--check:11: 'f8' is no type of elements"));
  EXPECT_THAT(refused("blas,every.f16=1"), StartsWith("--check:6: 'every' is no part"));
  EXPECT_THAT(refused("blas,most=3G"), StartsWith("--check:11: most= is at most 2G"));
  EXPECT_THAT(refused("blas,"), StartsWith("--check:6: '' is no part"));
  EXPECT_THAT(refused(std::string(400, 'x')), StartsWith("--check:300:"));
}

}  // namespace
}  // namespace fade::blas
