// The memory for slots in one address space: the areas that were mapped, and which slots in them are free. Pure
// bookkeeping; a value.
#pragma once
#include <optional>
#include <span>
#include <vector>

#include "probe/safety_net.hpp"

namespace fade {

class SlotAreas {
 public:
  // The net's own area comes first.
  void add(const SlotArea& area) { areas_.push_back(area); }
  void drop_last() { areas_.pop_back(); }
  void clear();

  // A slot within reach of the site; for a jump, with one behind it for its pad. nullopt: an area must be added.
  std::optional<RemoteAddr> take(Way way, RemoteAddr site);
  // Of a site that is gone.
  void give_back(Way way, RemoteAddr slot) { free_of(way).push_back(slot); }
  // Whether sites anywhere in `range` find many slots within reach.
  bool has_room_near(RemoteRange range) const;
  // A site of an earlier fade has that slot: new slots come behind it. False: no slot can be there.
  bool occupy(Way way, RemoteAddr slot);
  // Forgets areas that are not mapped in a copy of the process, and all free slots if there are such.
  void drop_unmapped(const Memory& memory);

  // The area around an address; null: none.
  const SlotArea* around(RemoteAddr address) const;
  // Where the slot around an address begins; the address must be in an area.
  RemoteAddr slot_around(RemoteAddr address) const;
  std::span<const SlotArea> all() const { return areas_; }
  bool empty() const { return areas_.empty(); }

  static constexpr std::uint64_t kExtraArea = 256 * 1024;  // bytes of an area that is added later

 private:
  std::vector<RemoteAddr>& free_of(Way way) { return way == Way::Trap ? free_slots_ : free_pairs_; }

  std::vector<SlotArea> areas_;
  std::vector<RemoteAddr> free_slots_;
  std::vector<RemoteAddr> free_pairs_;  // a slot and the one behind it
};

}  // namespace fade
