#include "session/remembered_stacks.hpp"

#include <algorithm>

namespace fade {

std::size_t RememberedStacks::set_of(const Place& place) {
  const std::uint64_t mixed =
      (place.pc ^ place.sp * 0xD6E8'FEB8'6659'FD93U ^ place.fs_base * 0x9E37'79B9'7F4A'7C15U) * 0x9FB2'1C65'1E98'DF25U;
  return (mixed >> 40) % kSets;
}

const RememberedStacks::Stack* RememberedStacks::find(const Place& place, const FrameRegisters& frame,
                                                      const StackSnapshot& snapshot, std::uint64_t ms) const {
  for (const Entry& entry : sets_[set_of(place)].entries)
    if (entry.stack.id != 0 && entry.place == place && entry.evidence.holds(frame, StackSnapshot::Look(snapshot), ms))
      return &entry.stack;
  return nullptr;
}

void RememberedStacks::put(const Place& place, const StackEvidence& evidence, Stack stack) {
  Set& set = sets_[set_of(place)];
  const auto same =
      std::ranges::find_if(set.entries, [&](const Entry& e) { return e.stack.id == stack.id && e.place == place; });
  Entry& entry = same != set.entries.end() ? *same : set.entries[set.next++ % kWays];
  entry.place = place;
  entry.stack = stack;
  entry.evidence = evidence;
}

}  // namespace fade
