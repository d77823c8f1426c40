// What differs between two recordings, from their rows.
#include <gmock/gmock.h>

#include "cli/query/differences.hpp"

namespace fade::query {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

struct Compared {
  const char* item;
  const char* unit;
  table::Value number;
  table::Value text;
};

NamedRows rows(std::int64_t rank, const std::vector<Compared>& values) {
  static const auto names = std::make_shared<const NamedRow::Names>(
      NamedRow::Names{"session", "rank", "section", "item", "unit", "number", "text"});
  NamedRows out;
  for (const Compared& v : values)
    out.emplace_back(names, Row{std::int64_t{1}, rank, "section " + std::to_string(rank), std::string(v.item),
                                std::string(v.unit), v.number, v.text});
  return out;
}
NamedRows counts(const std::vector<std::pair<const char*, std::int64_t>>& values) {
  std::vector<Compared> out;
  for (const auto& [item, n] : values) out.push_back({item, "n", n, {}});
  return rows(1, out);
}
std::vector<std::string> items(const std::vector<Difference>& all) {
  std::vector<std::string> out;
  for (const Difference& d : all) out.push_back(d.item);
  return out;
}

TEST(Differences, TheLargestComesFirstAndEqualValuesAreCounted) {
  std::size_t same = 0;
  const auto all =
      differences(counts({{"a", 5}, {"b", 10}, {"c", 7}}), 1, counts({{"a", 4}, {"b", 30}, {"c", 7}}), 1, same);
  EXPECT_THAT(items(all), ElementsAre("b", "a"));
  EXPECT_EQ(all[0].more(), 20);
  EXPECT_EQ(same, 1u);
}

TEST(Differences, WhatOneSideLacksWasNotSeenThere) {
  std::size_t same = 0;
  const auto all = differences(counts({{"old", 5}}), 1, counts({{"new", 6}}), 1, same);
  ASSERT_THAT(items(all), ElementsAre("new", "old"));
  EXPECT_FALSE(all[0].before.seen());
  EXPECT_TRUE(all[0].after.seen());
  EXPECT_FALSE(all[1].after.seen());
}

TEST(Differences, ARunWithoutTheItemCountsAsZeroIfAnotherHasIt) {
  std::size_t same = 0;
  const auto all = differences(counts({{"a", 6}}), 2, counts({{"a", 6}}), 1, same);
  ASSERT_THAT(all, SizeIs(1));
  EXPECT_THAT(all[0].before.numbers, ElementsAre(6, 0));
  const auto means = rows(2, {{"mean", "mean ns", std::int64_t{6}, {}}});
  EXPECT_THAT(differences(means, 2, means, 1, same), IsEmpty()) << "a run without steps has no mean of them";
}

TEST(Differences, TextsOfSeveralRunsAreJoinedOnce) {
  const std::vector<Compared> twice{{"lib", "", {}, std::string("x")}, {"lib", "", {}, std::string("x")}};
  std::size_t same = 0;
  EXPECT_THAT(differences(rows(1, twice), 2, rows(1, {twice[0]}), 1, same), IsEmpty());
  const auto all = differences(rows(1, twice), 2, rows(1, {{"lib", "", {}, std::string("y")}}), 1, same);
  ASSERT_THAT(all, SizeIs(1));
  EXPECT_EQ(all[0].before.text, "x");
  EXPECT_EQ(all[0].after.text, "y");
}

TEST(Differences, SectionsKeepTheirRank) {
  std::size_t same = 0;
  NamedRows before = rows(2, {{"later", "n", std::int64_t{1000}, {}}});
  for (NamedRow& row : counts({{"first", 1}})) before.push_back(row);
  EXPECT_THAT(items(differences(before, 1, {}, 1, same)), ElementsAre("first", "later"));
}

TEST(Noise, TakesThreeRunsOnEachSide) {
  const double two[] = {1, 1}, three[] = {9, 9, 9};
  EXPECT_EQ(noise_of(two, three), Noise::Unknown);
  EXPECT_EQ(noise_of(three, two), Noise::Unknown);
  EXPECT_EQ(noise_of({}, {}), Noise::Unknown);
}

TEST(Noise, EqualRunsHaveNone) {
  const double nine[] = {9, 9, 9}, ten[] = {10, 10, 10};
  EXPECT_EQ(noise_of(nine, ten), Noise::Beyond);
  EXPECT_EQ(noise_of(nine, nine), Noise::Within);
}

// Welch: means 10 and 12, squared errors of the means 1/3 each, 4 degrees of freedom, margin 2.776 * 0.8165 = 2.27.
TEST(Noise, IsJudgedByWelchsInterval) {
  const double ten[] = {9, 10, 11}, twelve[] = {11, 12, 13}, thirteen[] = {12, 13, 14};
  EXPECT_EQ(noise_of(ten, twelve), Noise::Within);
  EXPECT_EQ(noise_of(ten, thirteen), Noise::Beyond);
  EXPECT_EQ(noise_of(thirteen, ten), Noise::Beyond);
}

}  // namespace
}  // namespace fade::query
