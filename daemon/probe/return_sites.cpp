// Places that calls return to. A program has a few thousand functions of ours at most, and may call them from any number of places: these
// must not take the room of a library that is loaded later.
#include <algorithm>

#include "probe/address_space.hpp"

namespace fade {
namespace {

constexpr std::uint64_t kWorthRewriting = 256;  // entries

}  // namespace

Result<Site*> AddressSpace::arm_return(RemoteAddr address, pid_t stopped) {
  const bool is_new = net_ && !sites_.contains(address);
  if (is_new && !make_room_for_return(stopped)) return fail("calls come from more places than there is room for breakpoints");
  return arm(address, stopped);
}

// Entries of forgotten sites are taken until the table is written anew, which is worth it where many are left out.
bool AddressSpace::make_room_for_return(pid_t stopped) {
  if (net_->places_left() > kKeptForEntries) return true;
  const std::uint64_t live = foreign_.size() + sites_.size() + pads_.size();
  const std::uint64_t forgotten = net_->places_taken() - std::min<std::uint64_t>(live, net_->places_taken());
  return net_->places_left() + forgotten > kKeptForEntries + kWorthRewriting && rewrite_table(stopped) && net_->places_left() > kKeptForEntries;
}

}  // namespace fade
