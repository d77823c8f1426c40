// Maps threads in fade's code (slots, pads and the net) to the place that they would have without fade. A view of an
// address space; valid as long as that is unchanged. Tracing thread only.
#pragma once
#include <optional>

#include "probe/safety_net.hpp"
#include "probe/site_table.hpp"
#include "probe/slot_areas.hpp"
#include "ptrace/registers.hpp"

namespace fade {

class OurCode {
 public:
  // `net`: null if there is none.
  OurCode(const Memory& memory, const SafetyNet* net, const SlotAreas& areas, const SiteTable& sites)
      : memory_(memory), net_(net), areas_(areas), sites_(sites) {}

  bool contains(RemoteAddr address) const {
    return (net_ && net_->range().contains(address)) || areas_.around(address);
  }
  // The program's own address for a thread at `in_slot`: the site if the moved instruction has not begun, the next
  // instruction if it is done. nullopt: inside the moved instructions, in the net's own code, in a tap or called by
  // one, or not fade's code.
  std::optional<RemoteAddr> own_address(RemoteAddr in_slot) const;
  // The registers at the beginning of the slot, for a thread that has executed only some of the moved instructions of
  // an entry, or a part of a moved call, and can go back. Otherwise `registers`.
  Registers at_begin_of_slot(const Registers& registers) const;
  // The registers that the thread would have without fade; nullopt as own_address(). A thread that has executed only
  // the first instruction of a function goes back to its entry if a jump may be written behind that instruction.
  std::optional<Registers> own_registers(const Registers& registers) const;
  // The site that a thread with these registers has hit, and will hit again if it gets its own registers; and its stack
  // pointer then. nullopt: none.
  struct Hit {
    RemoteAddr site, sp;
  };
  std::optional<Hit> hit_again(const Registers& registers) const;
  // True if a signal frame on the stack from `sp` on (128 KiB at most) continues in fade's code or returns through it.
  // A finished but still complete frame counts, too.
  bool is_referred_to(RemoteAddr sp) const;
  // The site whose slot, or pad, begins at `slot`; null: none. Walks through all sites.
  const Site* site_of_slot(RemoteAddr slot) const { return areas_.around(slot) ? sites_.of_slot(slot) : nullptr; }

 private:
  std::optional<Registers> registers_at_entry(const Registers& registers) const;
  Hit next_hit(RemoteAddr function, RemoteAddr sp) const;

  const Memory& memory_;
  const SafetyNet* net_;
  const SlotAreas& areas_;
  const SiteTable& sites_;
};

}  // namespace fade
