#include "probe/address_space.hpp"

#include <algorithm>

#include "base/clock.hpp"

namespace fade {
namespace {

constexpr std::int64_t kForkWindow = 10'000'000'000;  // the fork's event arrives long before this limit

}  // namespace

std::shared_ptr<AddressSpace> AddressSpace::fork_copy(Pid child) const {
  return std::shared_ptr<AddressSpace>(new AddressSpace(*this, child));
}

// ---------------------------------------------------------------- the copy of a fork

void AddressSpace::forget_missing_net() {
  if (!ours_.net() || ours_.net()->stands_in(memory())) return;
  ours_.forget();
  sites_.clear();
}

void AddressSpace::mend_copy(Tid stopped) {
  forget_missing_net();
  ours_.mend_areas(stopped);
  if (!ours_.taps())
    for (auto& [address, site] : sites_.all()) site.is_tapped = false;  // the taps came while the fork was under way
  put_back_lifted(stopped);
  arm_missing(stopped);
  if (SafetyNet* const net = ours_.net()) net->set_guarded(memory(), stopped, net->is_guarded() && !sites_.is_closed());
}

void AddressSpace::put_back_lifted(Tid stopped) {
  for (const bool guards : {false, true})
    for (const auto& [address, site] : sites_.all())
      if (site.is_lifted && is_guard_of_libc(site.guard) == guards && ours_.text().is_set(site))
        ours_.text().put_back(site, stopped);
}

void AddressSpace::arm_missing(Tid stopped) {
  std::vector<Site> missing;
  const std::int64_t horizon = boottime_ns() - kForkWindow;
  for (const auto& [address, site] : sites_.all())
    if (!site.is_lifted && site.armed_at > horizon && !ours_.text().is_set(site)) missing.push_back(site);
  std::stable_partition(missing.begin(), missing.end(), [](const Site& site) { return is_guard_of_libc(site.guard); });
  for (const Site& site : missing) {
    sites_.erase(site.address);
    // A jump behind the first instruction becomes an int3 in the first instruction: the bytes behind it then have no
    // jump.
    const auto again = arm(site.address - site.lead.length, stopped, site.guard);
    if (again) (*again)->use = site.use;  // else a library loaded meanwhile: the child lacks it
  }
}

// ---------------------------------------------------------------- leaving

std::size_t AddressSpace::forget(RemoteRange range, Tid stopped) {
  return sites_.erase_if([&](const Site& site) {
    if (!range.contains(site.address)) return false;
    ours_.strike(site.address, stopped);
    ours_.give_back(site.way, site.slot);
    if (site.has_pad_entry()) ours_.strike(site.pad_trap(), stopped);
    return true;
  });
}

void AddressSpace::put_back(Tid stopped) {
  if (sites_.is_closed()) return;
  sites_.close();
  set_guarded(false, stopped);
  for (const bool guards : {false, true}) put_back_all(guards, stopped);
}

// Guards go last: if fade dies, an int3 without guards may kill.
void AddressSpace::put_back_all(bool guards, Tid stopped) {
  // If other bytes are there, the program wrote over the breakpoint: keep the program's bytes.
  for (auto& [address, site] : sites_.all()) {
    if (site.is_lifted || is_guard_of_libc(site.guard) != guards) continue;
    const SiteText text = ours_.text();
    if (site.is_entry_jump() && text.is_written_over(site)) ours_.must_stay();
    site.is_lifted = !text.is_set(site) || text.put_back(site, stopped) || !text.is_set(site);  // its library may go
  }
}

void AddressSpace::untap_all() {
  for (auto& [address, site] : sites_.all())
    if (site.is_tapped) TapCells::untap(memory(), site, kNobody);
}

Result<void> AddressSpace::remove(Tid stopped, RemoteGadgets outside) {
  if (!has_net()) return {};
  if (auto given = trap_signal().give_back(stopped, outside); !given) return given;
  if (auto unmapped = ours_.unmap(stopped, outside); !unmapped) return unmapped;
  sites_.clear();
  return {};
}

}  // namespace fade
