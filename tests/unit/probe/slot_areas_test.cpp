#include "probe/slot_areas.hpp"

#include <gtest/gtest.h>

#include "elf/support.hpp"
#include "probe/relocate.hpp"

namespace fade {
namespace {
namespace areas_of_slots {

constexpr RemoteAddr kSite{0x7f0000001000}, kArea{0x7f0000100000}, kFar{0x200000000000};

SlotArea area_of(RemoteAddr begin, std::uint64_t slots) {
  return {.range = {begin, begin + slots * kSlotSize}, .next = begin};
}

TEST(SlotAreas, AJumpTakesTwoNeighbouringSlots) {
  SlotAreas areas;
  areas.add(area_of(kArea, 4));
  EXPECT_EQ(areas.take(Way::Trap, kSite), kArea);
  EXPECT_EQ(areas.take(Way::Jump, kSite), kArea + kSlotSize);
  EXPECT_EQ(areas.take(Way::Jump, kSite), std::nullopt);  // one slot is left
  EXPECT_EQ(areas.take(Way::Trap, kSite), kArea + 3 * kSlotSize);
  EXPECT_EQ(areas.take(Way::Trap, kSite), std::nullopt);
}

TEST(SlotAreas, AnAreaOutOfReachIsOfNoUse) {
  SlotAreas areas;
  areas.add(area_of(kFar, 100'000));
  EXPECT_EQ(areas.take(Way::Trap, kSite), std::nullopt);
  EXPECT_FALSE(areas.has_room_near({kSite, kSite + 16}));
  EXPECT_TRUE(areas.has_room_near({kFar, kFar + 16}));
  EXPECT_FALSE(areas.has_room_near({kSite, kFar}));
}

TEST(SlotAreas, AFreeSlotIsTakenAgainByASiteOfItsKind) {
  SlotAreas areas;
  areas.add(area_of(kArea, 4));
  const auto slot = areas.take(Way::Trap, kSite), pair = areas.take(Way::Jump, kSite);
  areas.give_back(Way::Trap, *slot);
  areas.give_back(Way::Jump, *pair);
  EXPECT_EQ(areas.take(Way::Jump, kSite), pair);
  EXPECT_EQ(areas.take(Way::Trap, kSite), slot);
}

TEST(SlotAreas, NewSlotsComeAfterThoseOfAnEarlierFade) {
  SlotAreas areas;
  areas.add(area_of(kArea, 8));
  EXPECT_TRUE(areas.occupy(Way::Jump, kArea + 2 * kSlotSize));
  EXPECT_TRUE(areas.occupy(Way::Trap, kArea));
  EXPECT_EQ(areas.take(Way::Trap, kSite), kArea + 4 * kSlotSize);
  EXPECT_FALSE(areas.occupy(Way::Trap, kArea + 1));  // no slot begins there
  EXPECT_FALSE(areas.occupy(Way::Trap, kSite));      // no area
}

TEST(SlotAreas, AnAddressLeadsToItsSlot) {
  SlotAreas areas;
  areas.add(area_of(kArea, 4));
  EXPECT_EQ(areas.slot_around(kArea + kSlotSize + 5), kArea + kSlotSize);
  EXPECT_NE(areas.around(kArea + 4 * kSlotSize - 1), nullptr);
  EXPECT_EQ(areas.around(kArea + 4 * kSlotSize), nullptr);
}

TEST(SlotAreas, AnAreaThatACopyLacksIsForgottenWithAllFreeSlots) {
  const elf::test::BytesMemory memory(std::vector<std::byte>(4 * kSlotSize), kArea.value);
  SlotAreas areas;
  areas.add(area_of(kArea, 4));
  const auto slot = areas.take(Way::Trap, kSite);
  areas.give_back(Way::Trap, *slot);
  areas.drop_unmapped(memory);
  EXPECT_EQ(areas.take(Way::Trap, kSite), slot);  // nothing was missing
  areas.give_back(Way::Trap, *slot);
  areas.add(area_of(kArea + 0x100000, 4));
  areas.drop_unmapped(memory);
  EXPECT_EQ(areas.all().size(), 1u);
  EXPECT_EQ(areas.take(Way::Trap, kSite), kArea + kSlotSize);
}

}  // namespace areas_of_slots
}  // namespace
}  // namespace fade
