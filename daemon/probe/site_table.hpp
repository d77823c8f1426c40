// The sites of one address space by address, and by the int3 in their pads. Pure bookkeeping; a value.
#pragma once
#include <cstddef>
#include <unordered_map>

#include "probe/site.hpp"

namespace fade {

class SiteTable {
 public:
  using Map = std::unordered_map<RemoteAddr, Site>;

  // Pointers stay valid until the site is erased. nullptr if there is no such site.
  // The site at the address.
  Site* at(RemoteAddr address);
  const Site* at(RemoteAddr address) const { return const_cast<SiteTable*>(this)->at(address); }
  bool contains(RemoteAddr address) const { return sites_.contains(address); }
  // The site whose int3 is there, in the text or in the site's pad.
  Site* find(RemoteAddr trap);
  // The site of a function: in its first instruction, or the jump after it. The armed one if it has both
  // (EntryConversion).
  Site* of_function(RemoteAddr function);
  const Site* of_function(RemoteAddr function) const { return const_cast<SiteTable*>(this)->of_function(function); }
  // The site whose slot or pad begins there (walks through all sites).
  const Site* of_slot(RemoteAddr slot) const;
  // True if a jump covers the byte; the jump's own first byte does not count.
  bool is_under_jump(RemoteAddr address) const;

  // Replaces a site at the same address.
  Site* keep(const Site& site);
  void erase(RemoteAddr address);
  // Erases the sites for which `is_over(site)` is true. Returns their number.
  template <class IsOver>
  std::size_t erase_if(IsOver&& is_over) {
    return std::erase_if(sites_, [&](const auto& item) {
      const Site& site = item.second;
      if (!is_over(site)) return false;
      if (site.has_pad_trap()) pads_.erase(site.pad_trap());
      return true;
    });
  }
  void clear();  // a closed table is open again
  // From now on no site is to be armed.
  void close() { is_closed_ = true; }
  bool is_closed() const { return is_closed_; }

  const Map& all() const { return sites_; }
  Map& all() { return sites_; }
  std::size_t size() const { return sites_.size(); }
  std::size_t traps() const { return sites_.size() + pads_.size(); }
  std::size_t armed() const;  // without lifted ones

 private:
  Map sites_;
  std::unordered_map<RemoteAddr, RemoteAddr> pads_;  // int3 in the pad -> site
  bool is_closed_ = false;
};

}  // namespace fade
