// Sets breakpoints: slot, table, text, in this order, so that each step is harmless if fade dies after it. A view of an
// address space. Tracing thread only.
#pragma once
#include "base/pid.hpp"
#include "probe/our_memory.hpp"
#include "probe/site_table.hpp"

namespace fade {

class SiteArming {
 public:
  SiteArming(OurMemory& ours, SiteTable& sites) : ours_(ours), sites_(sites) {}

  // The armed site at `address`: an existing or a new one. See AddressSpace::arm().
  Result<Site*> arm(RemoteAddr address, Tid stopped, Guard guard);
  // Refuses places where no breakpoint may be.
  Result<void> may_arm(RemoteAddr address) const;
  // Sets a lifted site again if its text is unchanged. Its slot and its entry still exist.
  bool set_again(Site& site, Tid stopped) const;

 private:
  Result<Site> make_site(RemoteAddr address, Guard guard, Tid stopped);
  Result<Site> make_trap(RemoteAddr address, Guard guard, Tid stopped);
  Result<Site> make_trap_with(RemoteAddr slot, RemoteAddr address, Guard guard, Tid stopped);
  Result<Site> make_jump(RemoteAddr address, Guard guard, Tid stopped);

  OurMemory& ours_;
  SiteTable& sites_;
};

// The place of a guard's site in a function: after an endbr64, which changes nothing.
RemoteAddr guarded_address(const Memory& memory, RemoteAddr function);
// The place of Guard::Clone in libc's syscall(2), which begins at `function`: the check of the result. nullopt: the
// function has another shape, or already has a jump there.
std::optional<RemoteAddr> behind_system_call(const Memory& memory, RemoteAddr function);

}  // namespace fade
