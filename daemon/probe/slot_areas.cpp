#include "probe/slot_areas.hpp"

#include <algorithm>

#include "elf/maps.hpp"
#include "probe/relocate.hpp"

namespace fade {
namespace {

constexpr std::uint64_t kRoom = SlotAreas::kExtraArea / 2;

bool reaches(RemoteAddr a, RemoteAddr b) { return (a > b ? a - b : b - a) < elf::kJumpReach; }
bool reaches(const RemoteRange& area, RemoteAddr b) { return reaches(area.begin, b) && reaches(area.end, b); }

std::uint64_t size_of(Way way) { return (way == Way::Trap ? 1 : 2) * kSlotSize; }

}  // namespace

void SlotAreas::clear() {
  areas_.clear();
  free_slots_.clear();
  free_pairs_.clear();
}

std::optional<RemoteAddr> SlotAreas::take(Way way, RemoteAddr site) {
  auto& free = free_of(way);
  if (const auto again = std::ranges::find_if(free, [&](RemoteAddr slot) { return reaches(slot, site); });
      again != free.end()) {
    const RemoteAddr slot = *again;
    free.erase(again);
    return slot;
  }
  for (SlotArea& area : areas_) {
    if (area.range.end - area.next < size_of(way) || !reaches(area.range, site)) continue;
    const RemoteAddr slot = area.next;
    area.next = area.next + size_of(way);
    return slot;
  }
  return std::nullopt;
}

bool SlotAreas::has_room_near(RemoteRange range) const {
  return std::ranges::any_of(areas_, [&](const SlotArea& area) {
    return area.range.end - area.next >= kRoom && reaches(area.range, range.begin) && reaches(area.range, range.end);
  });
}

bool SlotAreas::occupy(Way way, RemoteAddr slot) {
  const auto area = std::ranges::find_if(areas_, [&](const SlotArea& a) { return a.range.contains(slot); });
  if (area == areas_.end() || (slot - area->range.begin) % kSlotSize != 0) return false;
  area->next = std::max(area->next, slot + size_of(way));
  return true;
}

void SlotAreas::drop_unmapped(const Memory& memory) {
  if (std::erase_if(areas_, [&](const SlotArea& area) { return !memory.value<std::byte>(area.range.begin); }) == 0)
    return;
  free_slots_.clear();
  free_pairs_.clear();
}

const SlotArea* SlotAreas::around(RemoteAddr address) const {
  const auto it = std::ranges::find_if(areas_, [&](const SlotArea& area) { return area.range.contains(address); });
  return it == areas_.end() ? nullptr : &*it;
}

RemoteAddr SlotAreas::slot_around(RemoteAddr address) const {
  return address - (address - around(address)->range.begin) % kSlotSize;
}

}  // namespace fade
