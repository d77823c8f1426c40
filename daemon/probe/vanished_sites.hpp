// Sites whose breakpoint the program has overwritten: by madvise(2), by a new mapping over its text, or by bytes of its
// own. A view of an address space. Tracing thread only.
#pragma once
#include <optional>
#include <span>
#include <vector>

#include "base/pid.hpp"
#include "probe/our_memory.hpp"
#include "probe/site_table.hpp"

namespace fade {

struct VanishedSite {
  // The bytes at a breakpoint that the program has removed. Original: the program's own instruction. Other: other code,
  // in which a breakpoint has no place. Nothing: unreadable memory.
  enum class Instead : std::uint8_t { Original, Other, Nothing };

  RemoteAddr address;
  Instead instead = Instead::Original;
  Guard guard = Guard::None;
};

class VanishedSites {
 public:
  VanishedSites(OurMemory& ours, SiteTable& sites) : ours_(ours), sites_(sites) {}

  // The armed sites without a breakpoint in memory, libc's guards first. Reads only, a page in one piece; needs no
  // stopped thread. Empty if the process has executed another program.
  std::vector<VanishedSite> all() const;
  // Sets a breakpoint again if its original bytes are there. The Error gives the reason for giving the site up.
  // `stopped`: a thread, or kNobody.
  enum class Repair : std::uint8_t { Done, NotNeeded };
  Result<Repair> repair(RemoteAddr address, Tid stopped);
  // Gives a site up whose bytes are neither its breakpoint nor its original: no later write goes there.
  void drop(RemoteAddr address, Tid stopped);

 private:
  using SiteIterator = std::vector<const Site*>::const_iterator;
  SiteIterator look_at_some(SiteIterator first, SiteIterator end, std::span<std::byte> buffer,
                            std::vector<VanishedSite>& out) const;
  std::optional<VanishedSite::Instead> instead_of(const Site& site) const;
  void give_up(Site& site, Tid stopped);

  OurMemory& ours_;
  SiteTable& sites_;
};

// True if `text`, read from the site's address on, holds the site's breakpoint: an int3, or its whole jump. Pure.
bool is_in_place(const Site& site, std::span<const std::byte> text);

}  // namespace fade
