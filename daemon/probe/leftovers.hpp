// Takes over the remains of an earlier fade in a process, or in the parent it was forked from. A view of an address
// space. Tracing thread only.
#pragma once
#include <optional>

#include "base/pid.hpp"
#include "probe/our_memory.hpp"
#include "probe/site_table.hpp"

namespace fade {

struct Leftovers {
  std::size_t sites = 0;     // now known, and lifted
  std::size_t put_back = 0;  // sites that still had an int3
  std::size_t foreign = 0;   // sites whose text has changed: left unchanged, the net handles them
};

class Takeover {
 public:
  Takeover(OurMemory& ours, SiteTable& sites) : ours_(ours), sites_(sites) {}

  // Net, slot areas and sites then belong to this fade. Every original byte is put back, and the SIGTRAP handler is the
  // net's again. nullopt: no remains.
  Result<std::optional<Leftovers>> run(Tid stopped);

 private:
  Result<void> take_signal(SafetyNet& net, const std::vector<NetTable::Entry>& entries, Tid stopped) const;
  void adopt(const NetTable::Entry& entry, Tid stopped);
  bool is_believed(Site& site, bool was_set) const;
  void turn_taps_off(const elf::Maps& maps, const std::vector<NetTable::Entry>& entries, Tid stopped) const;

  OurMemory& ours_;
  SiteTable& sites_;
  Leftovers found_;
};

}  // namespace fade
