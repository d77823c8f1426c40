// The tables of taps, written into memory as the tracer would write them.
#include "tap/tables.hpp"

#include <gmock/gmock.h>

#include <map>

namespace fade::tap {
namespace {

constexpr RemoteAddr kData{0x7f00'0000'0000};

struct DataArea {
  std::map<std::uint64_t, std::uint64_t> words;
  void write(const Word& word) { words[word.at.value - kData.value] = word.value; }

  // The ring that a tap finds.
  std::uint64_t ring_of(std::uint64_t thread) {
    const std::uint64_t bucket = DataLayout::kThreadsAt + bucket_of(thread);
    for (std::uint64_t at = bucket; at < bucket + DataLayout::kBucket; at += 16)
      if (words[at] == thread) return words[at + 8];
    return 0;
  }
};

TEST(ThreadTable, GivesEachThreadItsRing) {
  ThreadTable table(kData);
  DataArea area;
  std::size_t added = 0;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    const auto words = table.add(0x7f12'0000'06c0 + i * 0x80'1000, {0x1000 * (i + 1)});
    for (const Word& word : words) area.write(word);
    added += !words.empty();
  }
  EXPECT_GT(added, 980u);  // few buckets of a thousand threads are full
  EXPECT_EQ(table.size(), added);
  for (std::uint64_t i = 0; i < 1000; ++i) {
    const std::uint64_t ring = area.ring_of(0x7f12'0000'06c0 + i * 0x80'1000);
    EXPECT_TRUE(ring == 0 || ring == 0x1000 * (i + 1));
  }
}

TEST(ThreadTable, WritesTheRingBeforeTheThread) {
  ThreadTable table(kData);
  const auto words = table.add(0x1000, {0x2000});
  ASSERT_EQ(words.size(), 2u);
  EXPECT_EQ(words[0].value, 0x2000u);
  EXPECT_EQ(words[1].value, 0x1000u);
  EXPECT_TRUE(table.add(0x1000, {0x3000}).empty());
}

TEST(ThreadTable, AThreadThatEndedLeavesItsPlace) {
  ThreadTable table(kData);
  DataArea area;
  for (int i = 0; i < 100; ++i) {
    for (const Word& word : table.add(0x1000, {0x2000})) area.write(word);
    EXPECT_EQ(area.ring_of(0x1000), 0x2000u);
    area.write(table.remove(0x1000).value());
    EXPECT_EQ(area.ring_of(0x1000), 0u);
  }
  EXPECT_FALSE(table.remove(0x1000));
}

TEST(SiteTable, KnowsAFunctionsCallSites) {
  SiteTable table(kData);
  EXPECT_TRUE(table.add(1, {0x5000}));
  EXPECT_FALSE(table.add(1, {0x5000}));
  EXPECT_TRUE(table.add(2, {0x5000}));  // an indirect call
  EXPECT_TRUE(table.contains(1, {0x5000}));
  EXPECT_FALSE(table.contains(3, {0x5000}));
}

TEST(SiteTable, ForgetsCodeThatIsGone) {
  SiteTable table(kData);
  DataArea area;
  for (std::uint64_t at = 0x5000; at < 0x6000; at += 0x100) area.write(table.add(1, {at}).value());
  for (const Word& word : table.forget({{0x5800}, {0x6000}})) {
    EXPECT_EQ(word.value, 0u);
    area.write(word);
  }
  EXPECT_EQ(table.size(), 8u);
  EXPECT_FALSE(table.contains(1, {0x5800}));
  EXPECT_TRUE(table.contains(1, {0x5700}));
  std::size_t left = 0;
  for (const auto& [at, value] : area.words) left += value != 0;
  EXPECT_EQ(left, 8u);
}

TEST(SiteTable, ForgetsAFunction) {
  SiteTable table(kData);
  EXPECT_TRUE(table.add(1, {0x5000}) && table.add(2, {0x5000}) && table.add(2, {0x6000}));
  EXPECT_EQ(table.forget(2).size(), 2u);
  EXPECT_TRUE(table.contains(1, {0x5000}));
  EXPECT_FALSE(table.contains(2, {0x6000}));
}

TEST(SiteTable, IsFullAtSomeTime) {
  SiteTable table(kData);
  std::size_t known = 0;
  for (std::uint64_t i = 0; i < 100'000; ++i) known += table.add(1, {0x40'0000 + i * 5}).has_value();
  EXPECT_GT(known, DataLayout::kSitesSize / 8 / 2);
  EXPECT_LE(known, DataLayout::kSitesSize / 8);
}

}  // namespace
}  // namespace fade::tap
