// Places that calls return to. A program has at most a few thousand probed functions, but may call them from any number
// of places. Return places must not use up the room for a library that is loaded later. Therefore places that are not
// met again are given back. A view of an address space. Tracing thread only.
#pragma once
#include <unordered_set>
#include <vector>

#include "base/pid.hpp"
#include "probe/our_memory.hpp"
#include "probe/site_table.hpp"

namespace fade {

class ReturnSites {
 public:
  // True if a site serves returns and nothing else. The user of the sites knows.
  using IsReturn = bool (*)(const Site& site);
  // The last places of the net's table, which are kept for functions.
  static constexpr std::uint64_t kKeptForEntries = 2048;

  ReturnSites(OurMemory& ours, SiteTable& sites) : ours_(ours), sites_(sites) {}

  // As AddressSpace::arm(). The Error has code ENOSPC if there is no room.
  Result<Site*> arm(RemoteAddr address, Tid stopped);
  // True if three quarters of the places for returns are taken.
  bool are_scarce() const;
  // Puts the original byte back at up to `most` of the return places, except at those in `open`: the places armed
  // longest ago first. The sites stay known, for threads that have just hit them, and arm() sets them again. Needs
  // memory that can be written without a stopped thread. Returns their number.
  std::size_t rest(IsReturn is_return, const std::unordered_set<RemoteAddr>& open, std::size_t most);
  // As rest(), of one place, which has no open call and serves returns alone. False: it keeps its breakpoint.
  bool rest(Site& site);
  // Forgets return places that were lifted before `before` (CLOCK_BOOTTIME), not armed since, and not hit by any
  // thread. Their slots are not reused. Returns their number.
  std::size_t forget_rested(IsReturn is_return, std::int64_t before);

 private:
  bool can_write() const { return ours_.net() && !sites_.is_closed() && ours_.memory().writes_without_stop(); }
  bool make_room(Tid stopped);

  OurMemory& ours_;
  SiteTable& sites_;
};

// The armed return places that are not in `open`, at most `most`: those armed longest ago, in this order. Pure.
std::vector<Site*> longest_armed(SiteTable& sites, ReturnSites::IsReturn is_return,
                                 const std::unordered_set<RemoteAddr>& open, std::size_t most);

}  // namespace fade
