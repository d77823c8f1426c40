// Places that calls return to. A program has at most a few thousand probed functions, but may call them from any number
// of places. Return places must not use up the room for a library that is loaded later. Therefore places that are not
// met again are given back.
#include <algorithm>
#include <cerrno>

#include "base/clock.hpp"
#include "probe/address_space.hpp"

namespace fade {
namespace {

constexpr std::uint64_t kWorthRewriting = 256;  // entries

}  // namespace

Result<Site*> AddressSpace::arm_return(RemoteAddr address, pid_t stopped) {
  const bool is_new = net_ && !sites_.contains(address);
  if (is_new && !make_room_for_return(stopped))
    return fail("calls come from more places than there is room for breakpoints", {}, {}, ENOSPC);
  return arm(address, stopped);
}

// Entries of forgotten sites stay taken until the table is rewritten, which is worth it if many sites are forgotten.
bool AddressSpace::make_room_for_return(pid_t stopped) {
  if (net_->places_left() > kKeptForEntries) return true;
  const std::uint64_t live = foreign_.size() + sites_.traps();
  const std::uint64_t forgotten = net_->places_taken() - std::min<std::uint64_t>(live, net_->places_taken());
  return net_->places_left() + forgotten > kKeptForEntries + kWorthRewriting && rewrite_table(stopped) &&
         net_->places_left() > kKeptForEntries;
}

bool AddressSpace::returns_are_scarce() const {
  if (!net_) return false;
  const std::uint64_t for_returns = net_->places_left() + net_->places_taken() - kKeptForEntries;
  return sites_.size() + foreign_.size() > for_returns / 4 * 3;
}

std::size_t AddressSpace::rest_returns(const std::unordered_set<RemoteAddr>& open, std::size_t most) {
  if (!net_ || is_put_back_ || !memory_.writes_without_stop()) return 0;
  std::vector<Site*> places;
  for (auto& [address, site] : sites_.all())
    if (site.is_return() && !site.is_lifted && !open.contains(address)) places.push_back(&site);
  most = std::min(most, places.size());
  std::ranges::partial_sort(places, places.begin() + static_cast<std::ptrdiff_t>(most), {}, &Site::armed_at);
  places.resize(most);
  const std::int64_t now = boottime_ns();
  return static_cast<std::size_t>(std::ranges::count_if(places, [&](Site* site) {
    if (!text().is_set(*site) || !text().put_back(*site, kNobody)) return false;  // overwritten, or its library is gone
    site->rested_at = now;
    return site->is_lifted = true;
  }));
}

std::size_t AddressSpace::forget_rested(std::int64_t before) {
  if (!net_ || is_put_back_ || !memory_.writes_without_stop()) return 0;
  return sites_.erase_if([&](const Site& site) {
    const bool is_over =
        site.is_return() && site.is_lifted && site.rested_at != 0 && site.rested_at < before && !text().is_set(site);
    return is_over && net_->set(memory_, kNobody, {.site = site.address});
  });
}

}  // namespace fade
