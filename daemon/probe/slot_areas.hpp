// The memory for slots in one address space: the mapped areas and their free slots. Pure bookkeeping; a value.
#pragma once
#include <optional>
#include <span>
#include <vector>

#include "probe/net_layout.hpp"

namespace fade {

class SlotAreas {
 public:
  // The net's own area comes first.
  void add(const SlotArea& area) { areas_.push_back(area); }
  void drop_last() { areas_.pop_back(); }
  void clear();

  // A slot within reach of the site; a jump also gets the next slot, for its pad. nullopt: an area must be added.
  std::optional<RemoteAddr> take(Way way, RemoteAddr site);
  // The slot of a site that is gone.
  void give_back(Way way, RemoteAddr slot) { free_of(way).push_back(slot); }
  // True if sites anywhere in `range` find many slots within reach.
  bool has_room_near(RemoteRange range) const;
  // Marks the slot as used by a site of an earlier fade: new slots come after it. Returns false if no slot can be
  // there.
  bool occupy(Way way, RemoteAddr slot);
  // Forgets areas that are not mapped in a copy of the process, and then all free slots.
  void drop_unmapped(const Memory& memory);

  // The area around an address; null: none.
  const SlotArea* around(RemoteAddr address) const;
  // The beginning of the slot around an address; the address must be in an area.
  RemoteAddr slot_around(RemoteAddr address) const;
  std::span<const SlotArea> all() const { return areas_; }
  bool empty() const { return areas_.empty(); }

  static constexpr std::uint64_t kExtraArea = 256 * 1024;  // bytes of an area that is added later

 private:
  std::vector<RemoteAddr>& free_of(Way way) { return way == Way::Trap ? free_slots_ : free_pairs_; }

  std::vector<SlotArea> areas_;
  std::vector<RemoteAddr> free_slots_;
  std::vector<RemoteAddr> free_pairs_;  // a slot and the next one
};

}  // namespace fade
