#include "probe/vanished_sites.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "probe/instruction.hpp"
#include "probe/site_arming.hpp"

namespace fade {
namespace {

constexpr std::size_t kBuffer = ProcessMemory::kMostPieces * kPageSize;
constexpr std::uint8_t kMostRepairs = 8;  // of one site

using Sites = std::vector<const Site*>;

std::uint64_t end_of(const Site& site) { return site.address.value + (site.way == Way::Jump ? kJumpSize : 1); }

// The end of the sites from `first` on that one piece of memory holds: the sites of one page. A jump may reach into the
// next page.
Sites::const_iterator end_of_piece(Sites::const_iterator first, Sites::const_iterator end) {
  const std::uint64_t page_end = page_of((*first)->address).value + kPageSize;
  return std::find_if(first, end, [&](const Site* site) { return end_of(*site) > page_end && site != *first; });
}

}  // namespace

bool is_in_place(const Site& site, std::span<const std::byte> text) {
  if (text.empty()) return false;
  if (text[0] == std::byte{kInt3}) return true;
  if (site.way != Way::Jump || text.size() < kJumpSize) return false;
  const auto jump = jump_code(site.address, site.pad());
  return std::ranges::equal(text.first(kJumpSize), std::as_bytes(std::span(jump)));
}

// Sorted by address, so that a system call reads the sites of many pages.
std::vector<VanishedSite> VanishedSites::all() const {
  std::vector<VanishedSite> out;
  if (!ours_.net() || sites_.is_closed()) return out;
  Sites sites;
  sites.reserve(sites_.size());
  for (const auto& [address, site] : sites_.all())
    if (!site.is_lifted) sites.push_back(&site);
  std::ranges::sort(sites, {}, [](const Site* site) { return site->address; });
  std::vector<std::byte> buffer(kBuffer);
  for (auto next = sites.cbegin(); next != sites.cend();) next = look_at_some(next, sites.cend(), buffer, out);
  std::stable_partition(out.begin(), out.end(), [](const VanishedSite& site) { return is_guard_of_libc(site.guard); });
  return ours_.memory().is_gone() ? std::vector<VanishedSite>() : out;  // the bytes may be of the next program
}

// Checks as many sites as one system call reads. Returns the first site that is left.
VanishedSites::SiteIterator VanishedSites::look_at_some(SiteIterator first, SiteIterator end,
                                                        std::span<std::byte> buffer,
                                                        std::vector<VanishedSite>& out) const {
  std::vector<ProcessMemory::Piece> pieces;
  std::size_t used = 0;
  auto next = first;
  while (next != end && pieces.size() < ProcessMemory::kMostPieces) {
    const auto behind = end_of_piece(next, end);
    const std::size_t size = end_of(**std::prev(behind)) - (*next)->address.value;
    if (used + size > buffer.size()) break;
    pieces.push_back({(*next)->address, buffer.subspan(used, size)});
    used += size;
    next = behind;
  }
  ours_.memory().read_all(pieces);
  auto site = first;
  for (const ProcessMemory::Piece& piece : pieces)
    for (const auto behind = end_of_piece(site, end); site != behind; ++site) {
      const std::size_t at = std::min<std::size_t>((*site)->address - piece.from, piece.got);
      if (!is_in_place(**site, piece.into.subspan(at, piece.got - at)))
        if (const auto instead = instead_of(**site)) out.push_back({(*site)->address, *instead, (*site)->guard});
    }
  return next;
}

// Looks again closely, at one site: a part of a page may be unreadable, and the program may be writing there.
std::optional<VanishedSite::Instead> VanishedSites::instead_of(const Site& site) const {
  if (ours_.text().is_set(site)) return std::nullopt;
  std::array<std::uint8_t, 16> bytes;
  const std::size_t got = ours_.memory().read(site.address, std::as_writable_bytes(std::span(bytes)));
  if (got == 0) return VanishedSite::Instead::Nothing;
  return ours_.text().is_of_slot(site, std::span(bytes).first(got)) ? VanishedSite::Instead::Original
                                                                    : VanishedSite::Instead::Other;
}

// A jump over several instructions is not repaired: threads may be among them by now. An int3 at the function's first
// instruction is complete as soon as it is written. The jump's slots stay for threads that are still in them.
Result<VanishedSites::Repair> VanishedSites::repair(RemoteAddr address, Tid stopped) {
  Site* const known = sites_.at(address);
  if (!known || known->is_lifted || ours_.text().is_set(*known)) return Repair::NotNeeded;
  Site& site = *known;
  if (++site.repairs > kMostRepairs) {
    give_up(site, stopped);
    return fail("the program takes them out again and again");
  }
  if (!site.is_entry_jump()) {
    if (SiteArming(ours_, sites_).set_again(site, stopped)) return Repair::Done;
    give_up(site, stopped);
    return fail("the program's text cannot be written, or has changed");
  }
  site.is_lifted = true;
  const auto again = SiteArming(ours_, sites_).arm(site.address - site.lead.length, stopped, Guard::None);
  if (!again) return tl::unexpected(again.error());
  (*again)->use = site.use;
  (*again)->repairs = site.repairs;
  return Repair::Done;
}

void VanishedSites::drop(RemoteAddr address, Tid stopped) {
  if (Site* site = sites_.at(address); site && !site->is_lifted) give_up(*site, stopped);
}

// The slot stays, and the site stays known: a thread may have hit the breakpoint before it vanished.
void VanishedSites::give_up(Site& site, Tid stopped) {
  site.is_lifted = true;
  if (site.is_entry_jump() && ours_.text().is_written_over(site)) ours_.must_stay();
  if (site.guard == Guard::Sigaction || site.guard == Guard::Sigmask) ours_.set_guarded(false, stopped);
}

}  // namespace fade
