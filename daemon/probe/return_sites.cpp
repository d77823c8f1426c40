#include "probe/return_sites.hpp"

#include <algorithm>
#include <cerrno>

#include "base/clock.hpp"
#include "probe/site_arming.hpp"

namespace fade {
namespace {

constexpr std::uint64_t kWorthRewriting = 256;  // entries

}  // namespace

Result<Site*> ReturnSites::arm(RemoteAddr address, Tid stopped) {  // in the caller's text: DECISIONS 4
  const bool is_new = ours_.net() && !sites_.contains(address);
  if (is_new && !make_room(stopped))
    return fail("calls come from more places than there is room for breakpoints", {}, {}, ENOSPC);
  return SiteArming(ours_, sites_).arm(address, stopped, Guard::None);
}

// Entries of forgotten sites stay taken until the table is rewritten, which is worth it if many sites are forgotten.
bool ReturnSites::make_room(Tid stopped) {
  const NetTable& table = ours_.net()->table();
  if (table.places_left() > kKeptForEntries) return true;
  const std::uint64_t live = table.left_alone() + sites_.traps();
  const std::uint64_t forgotten = table.places_taken() - std::min<std::uint64_t>(live, table.places_taken());
  return table.places_left() + forgotten > kKeptForEntries + kWorthRewriting && ours_.rewrite_table(sites_, stopped) &&
         table.places_left() > kKeptForEntries;
}

bool ReturnSites::are_scarce() const {
  if (!ours_.net()) return false;
  const NetTable& table = ours_.net()->table();
  const std::uint64_t for_returns = table.places_left() + table.places_taken() - kKeptForEntries;
  return sites_.size() + table.left_alone() > for_returns / 4 * 3;
}

std::vector<Site*> longest_armed(SiteTable& sites, ReturnSites::IsReturn is_return,
                                 const std::unordered_set<RemoteAddr>& open, std::size_t most) {
  std::vector<Site*> places;
  for (auto& [address, site] : sites.all())
    if (is_return(site) && !site.is_lifted && !open.contains(address)) places.push_back(&site);
  most = std::min(most, places.size());
  std::ranges::partial_sort(places, places.begin() + static_cast<std::ptrdiff_t>(most), {}, &Site::armed_at);
  places.resize(most);
  return places;
}

std::size_t ReturnSites::rest(IsReturn is_return, const std::unordered_set<RemoteAddr>& open, std::size_t most) {
  const auto places = longest_armed(sites_, is_return, open, most);
  return static_cast<std::size_t>(std::ranges::count_if(places, [&](Site* site) { return rest(*site); }));
}

bool ReturnSites::rest(Site& site) {
  const SiteText text = ours_.text();
  if (!can_write() || !text.is_set(site) || !text.put_back(site, kNobody)) return false;  // or its library is gone
  site.rested_at = boottime_ns();
  return site.is_lifted = true;
}

std::size_t ReturnSites::forget_rested(IsReturn is_return, std::int64_t before) {
  if (!can_write()) return 0;
  return sites_.erase_if([&](const Site& site) {
    const bool is_over = is_return(site) && site.is_lifted && site.rested_at != 0 && site.rested_at < before &&
                         !ours_.text().is_set(site);
    return is_over && ours_.strike(site.address, kNobody);
  });
}

}  // namespace fade
