#include "probe/site_table.hpp"

#include <gtest/gtest.h>

namespace fade {
namespace {
namespace site_tables {

constexpr RemoteAddr kFunction{0x7f0000001000}, kSlot{0x7f0000100000};

Site trap_at(RemoteAddr address) { return {.address = address, .slot = kSlot, .length = 3}; }

// The jump behind a push of one byte.
Site entry_jump() {
  return {.address = kFunction + 1, .slot = kSlot, .length = 7, .lead = {.length = 1, .depth = 8}, .way = Way::Jump};
}

TEST(SiteTable, FindsASiteByItsTextAndByTheTrapInItsPad) {
  SiteTable table;
  Site* const kept = table.keep(entry_jump());
  EXPECT_EQ(table.at(kFunction + 1), kept);
  EXPECT_EQ(table.find(kFunction + 1), kept);
  EXPECT_EQ(table.find(kept->pad_trap()), kept);
  EXPECT_EQ(table.at(kept->pad_trap()), nullptr);
  EXPECT_EQ(table.find(kFunction), nullptr);
  EXPECT_EQ(table.traps(), 2u);
}

TEST(SiteTable, KnowsTheFunctionThatAJumpServes) {
  SiteTable table;
  Site* const jump = table.keep(entry_jump());
  EXPECT_EQ(table.of_function(kFunction), jump);
  EXPECT_EQ(table.of_function(kFunction - 1), nullptr);  // two bytes before the jump, whose lead has one
  Site* const trap = table.keep(trap_at(kFunction));
  EXPECT_EQ(table.of_function(kFunction), trap);
}

TEST(SiteTable, CoversTheBytesBehindAJump) {
  SiteTable table;
  table.keep(entry_jump());
  EXPECT_FALSE(table.is_under_jump(kFunction + 1));
  EXPECT_TRUE(table.is_under_jump(kFunction + 2));
  EXPECT_TRUE(table.is_under_jump(kFunction + 7));
  EXPECT_FALSE(table.is_under_jump(kFunction + 8));
}

TEST(SiteTable, FindsTheSiteOfASlotAndOfAPad) {
  SiteTable table;
  Site* const jump = table.keep(entry_jump());
  EXPECT_EQ(table.of_slot(kSlot), jump);
  EXPECT_EQ(table.of_slot(kSlot + kSlotSize), jump);
  EXPECT_EQ(table.of_slot(kSlot + 1), nullptr);
}

TEST(SiteTable, ForgetsAPadWithItsSite) {
  SiteTable table;
  const RemoteAddr pad_trap = table.keep(entry_jump())->pad_trap();
  table.keep(trap_at(kFunction + 1));  // replaces the jump
  EXPECT_EQ(table.find(pad_trap), nullptr);
  table.keep(entry_jump());
  table.erase(kFunction + 1);
  EXPECT_EQ(table.find(pad_trap), nullptr);
  table.keep(entry_jump());
  EXPECT_EQ(table.erase_if([](const Site& site) { return site.way == Way::Jump; }), 1u);
  EXPECT_EQ(table.traps(), 0u);
}

TEST(SiteTable, CountsArmedSitesAlone) {
  SiteTable table;
  table.keep(trap_at(kFunction));
  table.keep(trap_at(kFunction + 16))->is_lifted = true;
  EXPECT_EQ(table.size(), 2u);
  EXPECT_EQ(table.armed(), 1u);
}

TEST(SiteTable, IsOpenAgainWhenItIsCleared) {
  SiteTable table;
  table.keep(trap_at(kFunction));
  table.close();
  EXPECT_TRUE(SiteTable(table).is_closed());  // the copy of a fork
  table.clear();
  EXPECT_FALSE(table.is_closed());
  EXPECT_EQ(table.size(), 0u);
}

}  // namespace site_tables
}  // namespace
}  // namespace fade
