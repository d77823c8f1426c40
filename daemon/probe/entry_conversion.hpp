// Turns the breakpoint at the entry of a function into an entry jump while the program runs (TAPS.md section 4: taps
// need a jump). No thread ever executes a half-written jump:
//   begin()   The slot of the int3 no longer leads back behind the first instruction, but to the slot of the jump. So
//             no thread enters the bytes that the jump will cover. Threads that are there go on.
//   between   The caller makes sure that no thread is there any longer, and that no signal handler returns there.
//   finish()  The jump is written while the int3 still hides it. Then the int3 goes.
// After each single write, threads with and without a tracer are right: detach, take-over, forks and repairs meet an
// int3, a jump, or both. A view of an address space. Tracing thread only.
#pragma once
#include "base/pid.hpp"
#include "probe/entry_sites.hpp"
#include "probe/our_memory.hpp"
#include "probe/site_table.hpp"

namespace fade {

class EntryConversion {
 public:
  EntryConversion(OurMemory& ours, SiteTable& sites) : ours_(ours), sites_(sites) {}

  // The function has an armed breakpoint. Returns the bytes that no thread may be in. May be repeated. `stopped`: a
  // thread, or kNobody; then slots can only be taken from memory that is there.
  Result<RemoteRange> begin(FunctionEntry entry, Tid stopped);
  // After begin(), with no thread in those bytes. Returns the site of the jump, which has the word of the breakpoint's
  // user. The breakpoint's site stays known, as lifted, for threads that have just hit it. An Error changes nothing.
  Result<Site*> finish(RemoteAddr function, Tid stopped);

 private:
  Result<Site*> breakpoint_at(RemoteAddr function);
  Result<Site*> jump_for(const FunctionEntry& entry, RemoteAddr place, Tid stopped);
  bool can_use_again(const Site& jump, EntryLead lead) const;
  Result<Site> make_jump(const FunctionEntry& entry, RemoteAddr place, EntryLead lead, Tid stopped);
  bool lead_to(const Site& breakpoint, const Site& jump, Tid stopped);
  bool write(const Site& breakpoint, Site& jump, Tid stopped);

  OurMemory& ours_;
  SiteTable& sites_;
};

}  // namespace fade
