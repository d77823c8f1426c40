#include "probe/site_table.hpp"

#include <algorithm>

namespace fade {
namespace {
constexpr std::uint64_t kLongestJump = 16;  // bytes of instructions that a jump may cover
}

Site* SiteTable::at(RemoteAddr address) {
  const auto it = sites_.find(address);
  return it == sites_.end() ? nullptr : &it->second;
}

Site* SiteTable::find(RemoteAddr trap) {
  if (Site* site = at(trap)) return site;
  const auto pad = pads_.find(trap);
  return pad == pads_.end() ? nullptr : at(pad->second);
}

Site* SiteTable::of_function(RemoteAddr function) {
  Site* const known = find(function);
  if (known && !known->is_lifted) return known;
  for (const std::uint8_t lead : kLeads)
    if (Site* site = at(function + lead); site && site->is_entry_jump() && site->lead.length == lead)
      if (!known || !site->is_lifted) return site;
  return known;
}

const Site* SiteTable::of_slot(RemoteAddr slot) const {
  const auto it = std::ranges::find_if(sites_, [&](const auto& item) {
    return item.second.slot == slot || (item.second.way == Way::Jump && item.second.pad() == slot);
  });
  return it == sites_.end() ? nullptr : &it->second;
}

bool SiteTable::is_under_jump(RemoteAddr address) const {
  for (std::uint64_t back = 1; back < kLongestJump; ++back)
    if (const Site* site = at(address - back); site && site->is_entry_jump() && site->length > back) return true;
  return false;
}

Site* SiteTable::keep(const Site& site) {
  const auto [it, is_new] = sites_.try_emplace(site.address, site);
  if (!is_new) {
    std::erase_if(pads_, [&](const auto& pad) { return pad.second == site.address; });
    it->second = site;
  }
  if (site.has_pad_trap()) pads_[site.pad_trap()] = site.address;
  return &it->second;
}

void SiteTable::erase(RemoteAddr address) {
  const Site* site = at(address);
  if (!site) return;
  if (site->has_pad_trap()) pads_.erase(site->pad_trap());
  sites_.erase(address);
}

void SiteTable::clear() {
  sites_.clear();
  pads_.clear();
  is_closed_ = false;
}

std::size_t SiteTable::armed() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(sites_, [](const auto& item) { return !item.second.is_lifted; }));
}

}  // namespace fade
