// The session's use of a site. It is kept in the word that a site has for its user, so a stop needs no further look-up.
#pragma once
#include <bit>
#include <cstdint>

#include "probe/site.hpp"

namespace fade {

struct SiteUse {
  std::uint32_t entry = 0;      // index of the function that begins here; 0: none
  std::uint32_t call_site = 0;  // id of the call site that calls return to; 0: none

  static SiteUse of(const Site& site) { return std::bit_cast<SiteUse>(site.use); }
  void keep_in(Site& site) const { site.use = std::bit_cast<std::uint64_t>(*this); }

  // True if calls return there and no function begins there.
  bool is_return() const { return call_site != 0 && entry == 0; }
};

inline void use_as_entry(Site& site, std::uint32_t entry) { SiteUse{entry, SiteUse::of(site).call_site}.keep_in(site); }
inline void use_as_return(Site& site, std::uint32_t call_site) {
  SiteUse{SiteUse::of(site).entry, call_site}.keep_in(site);
}

}  // namespace fade
