// Figures worked out by hand beside each test.
#include <gmock/gmock.h>

#include <cmath>

#include "cli/ab/statistics.hpp"
#include "cli/table/student.hpp"

namespace fade::cli::ab {
namespace {

using testing::DoubleNear;

std::vector<Pair> pairs(std::initializer_list<double> without, std::initializer_list<double> with) {
  std::vector<Pair> out;
  for (std::size_t i = 0; i < without.size(); ++i) out.push_back({without.begin()[i], with.begin()[i]});
  return out;
}

TEST(Statistics, ADifferenceBeyondTheNoise) {
  // differences -1 -2 -1 -2 -1: mean -1.4, squares 3 * 0.16 + 2 * 0.36 = 1.2, variance 1.2 / 4 = 0.3,
  // standard error sqrt(0.3 / 5) = 0.244949, times t(4) = 2.776: 0.679978
  const Comparison c = compare(pairs({10, 12, 11, 13, 10}, {9, 10, 10, 11, 9}));
  EXPECT_EQ(c.pairs, 5u);
  EXPECT_THAT(c.without, DoubleNear(11.2, 1e-12));
  EXPECT_THAT(c.with, DoubleNear(9.8, 1e-12));
  EXPECT_THAT(c.difference, DoubleNear(-1.4, 1e-12));
  EXPECT_THAT(c.margin, DoubleNear(0.679978, 1e-6));
  EXPECT_EQ(c.verdict, Verdict::Less);
}

TEST(Statistics, TheOtherWayRoundItIsMore) {
  EXPECT_EQ(compare(pairs({9, 10, 10, 11, 9}, {10, 12, 11, 13, 10})).verdict, Verdict::More);
}

TEST(Statistics, ADifferenceWithinTheNoise) {
  // differences 1 -1 2 -2 0.5: mean 0.1, squares 0.81 + 1.21 + 3.61 + 4.41 + 0.16 = 10.2, variance 2.55,
  // standard error sqrt(2.55 / 5) = 0.714143, times 2.776: 1.982460
  const Comparison c = compare(pairs({10, 10, 10, 10, 10}, {11, 9, 12, 8, 10.5}));
  EXPECT_THAT(c.difference, DoubleNear(0.1, 1e-12));
  EXPECT_THAT(c.margin, DoubleNear(1.982460, 1e-6));
  EXPECT_EQ(c.verdict, Verdict::WithinNoise);
}

TEST(Statistics, PairsCancelWhatBothSidesShare) {
  // The machine slows down from 10 to 50; the differences are -1 and -1.2 all the same.
  EXPECT_EQ(compare(pairs({10, 20, 30, 40, 50}, {9, 18.8, 29, 38.8, 49})).verdict, Verdict::Less);
}

TEST(Statistics, OneColdRunMakesNoSpeed) {
  // differences -16 0.1 -0.1 0.1 -0.1: mean -3.2; variance 51.209 (squares 163.84 + 10.89 + 9.61 + 10.89 + 9.61 =
  // 204.84, / 4 = 51.21), standard error 3.200313, times 2.776: 8.884
  const Comparison c = compare(pairs({20, 4, 4, 4, 4}, {4, 4.1, 3.9, 4.1, 3.9}));
  EXPECT_THAT(c.difference, DoubleNear(-3.2, 1e-9));
  EXPECT_THAT(c.margin, DoubleNear(8.884, 1e-3));
  EXPECT_EQ(c.verdict, Verdict::WithinNoise);
}

TEST(Statistics, TooFewPairsSayNothingHoweverClear) {
  for (std::size_t n = 0; n < kFewestPairs; ++n)
    EXPECT_EQ(compare(std::vector<Pair>(n, {100, 1})).verdict, Verdict::TooFewPairs) << n;
  EXPECT_EQ(compare(std::vector<Pair>(kFewestPairs, {100, 1})).verdict, Verdict::Less);
  EXPECT_TRUE(std::isinf(compare(std::vector<Pair>(1, {100, 1})).margin));
}

TEST(Statistics, NoDifferenceAtAllIsNone) {
  EXPECT_EQ(compare(std::vector<Pair>(8, {5, 5})).verdict, Verdict::WithinNoise);
}

TEST(Statistics, StudentsTable) {
  EXPECT_TRUE(std::isinf(table::student_975(0)));
  EXPECT_EQ(table::student_975(1), 12.706);
  EXPECT_EQ(table::student_975(4), 2.776);
  EXPECT_EQ(table::student_975(30), 2.042);
  EXPECT_EQ(table::student_975(35), 2.042) << "the smaller one claims less";
  EXPECT_EQ(table::student_975(1000), 1.984);
}

TEST(Statistics, Median) {
  EXPECT_EQ(median({}), 0);
  EXPECT_EQ(median({3, 1, 2}), 2);
  EXPECT_EQ(median({4, 1, 3, 2}), 2.5);
}

}  // namespace
}  // namespace fade::cli::ab
