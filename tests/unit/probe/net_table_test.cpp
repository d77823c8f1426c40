#include "probe/net_table.hpp"

#include <gmock/gmock.h>
#include <unistd.h>

#include <memory>

#include "elf/support.hpp"

namespace fade {
namespace {
namespace net_tables {

using L = NetLayout;
constexpr std::uint64_t kTableWords = L::kTableSize / 8;

NetTable::Entry entry_of(std::uint64_t site, std::uint64_t slot) {
  return {.site = {site}, .slot = {slot}, .original = 0x55, .length = 3, .guard = Guard::Loader, .way = Way::Jump};
}

// This process, with a table in it.
class OwnTable : public ::testing::Test {
 protected:
  static constexpr std::size_t kWords = L::kSlotsAt / 8;
  std::unique_ptr<std::uint64_t[]> net = std::make_unique<std::uint64_t[]>(kWords);
  RemoteAddr base{reinterpret_cast<std::uint64_t>(net.get())};
  ProcessMemory memory{own_pid()};
  NetTable table{base};

  bool set(const NetTable::Entry& entry) { return table.set(memory, leader_of(own_pid()), entry); }
  std::vector<std::uint64_t> sites() const {
    std::vector<std::uint64_t> out;
    const auto entries = table.entries(memory);
    if (entries)
      for (const auto& entry : *entries) out.push_back(entry.site.value);
    return out;
  }
};

TEST_F(OwnTable, EntriesAreReadAsTheyWereWritten) {
  ASSERT_TRUE(set(entry_of(0x1000, 0x7fffffffffff)));
  const auto entries = table.entries(memory);
  ASSERT_TRUE(entries && entries->size() == 1);
  const NetTable::Entry& entry = entries->front();
  EXPECT_EQ(entry.site.value, 0x1000u);
  EXPECT_EQ(entry.slot.value, 0x7fffffffffffu);
  EXPECT_EQ(entry.original, 0x55);
  EXPECT_EQ(entry.length, 3);
  EXPECT_EQ(entry.guard, Guard::Loader);
  EXPECT_EQ(entry.way, Way::Jump);
}

TEST_F(OwnTable, AForgottenSiteKeepsItsPlaceUntilTheTableIsRewritten) {
  ASSERT_TRUE(set(entry_of(0x1000, 0x9000)) && set(entry_of(0x2000, 0x9040)));
  ASSERT_TRUE(set({.site = {0x1000}}));
  EXPECT_THAT(sites(), ::testing::ElementsAre(0x2000));
  EXPECT_EQ(table.places_taken(), 2u);
  const RemoteAddr before = table.now();
  ASSERT_TRUE(table.rewrite(memory, leader_of(own_pid()), {entry_of(0x2000, 0x9040)}));
  EXPECT_NE(table.now(), before);
  EXPECT_EQ(memory.value<RemoteAddr>(base + L::kTableNowAt), table.now());
  EXPECT_EQ(table.places_taken(), 1u);
  EXPECT_THAT(sites(), ::testing::ElementsAre(0x2000));
}

TEST_F(OwnTable, EntriesThatWereLeftAloneSurviveARewrite) {
  ASSERT_TRUE(set(entry_of(0x1000, 0x9000)) && set(entry_of(0x2000, 0x9040)));
  table.leave_alone(entry_of(0x1000, 0x9000));
  ASSERT_TRUE(table.rewrite(memory, leader_of(own_pid()), {}));
  EXPECT_THAT(sites(), ::testing::ElementsAre(0x1000));
  EXPECT_EQ(NetTable(table).left_alone(), 1u);  // the copy of a fork
}

TEST_F(OwnTable, ManyEntriesComeInOneWriteBesideTheOldOnes) {
  ASSERT_TRUE(set(entry_of(0x1000, 0x9000)));
  std::vector<NetTable::Entry> many;
  for (std::uint64_t i = 0; i < NetTable::kMostAtOnce; ++i) many.push_back(entry_of(0x1000 + 16 * i, 0x9000));
  ASSERT_TRUE(table.set_all(memory, leader_of(own_pid()), many));
  EXPECT_EQ(sites().size(), NetTable::kMostAtOnce);
  EXPECT_EQ(table.places_taken(), NetTable::kMostAtOnce);
}

TEST_F(OwnTable, ATooLargeListIsRefused) {
  const std::vector<NetTable::Entry> all(L::kTableEntries, entry_of(0x1000, 0x9000));
  EXPECT_FALSE(table.rewrite(memory, leader_of(own_pid()), all));
}

TEST_F(OwnTable, IsFoundByALaterFade) {
  ASSERT_TRUE(set(entry_of(0x1000, 0x9000)));
  ASSERT_TRUE(table.rewrite(memory, leader_of(own_pid()), {entry_of(0x1000, 0x9000), entry_of(0x3000, 0x9080)}));
  NetTable later(base);
  ASSERT_TRUE(later.find(memory) && later.count(memory));
  EXPECT_EQ(later.now(), table.now());
  EXPECT_EQ(later.places_taken(), 2u);
}

// The target may write anything into its memory.
TEST_F(OwnTable, ADamagedTableIsRefused) {
  NetTable later(base);
  EXPECT_FALSE(later.find(memory));  // null
  net[L::kTableNowAt / 8] = (base + L::kTablesAt + 16).value;
  EXPECT_FALSE(later.find(memory));  // inside the table
  std::fill_n(net.get() + L::kTablesAt / 8, kTableWords, 1);
  EXPECT_FALSE(later.count(memory));  // a search would never end
  EXPECT_FALSE(later.entries(memory));
  const elf::test::BytesMemory nothing({}, 0);
  EXPECT_FALSE(later.find(nothing));
  EXPECT_FALSE(later.count(nothing));
  EXPECT_FALSE(later.entries(nothing));
}

}  // namespace net_tables
}  // namespace
}  // namespace fade
