#pragma once
#include <array>
#include <cstdint>

#include "base/remote.hpp"
#include "probe/entry_jump.hpp"
#include "probe/guard_pad.hpp"
#include "probe/net_table.hpp"

namespace fade {

// One patched address: the original bytes, the bytes there now, and the place of the moved instructions. The first slot
// holds the instructions. A jump also has a pad in the slot after it.
struct Site {
  RemoteAddr address;
  RemoteAddr slot;
  std::uint8_t original = 0;             // the byte under the int3
  std::array<std::uint8_t, 4> behind{};  // the bytes after it that a jump covers too
  std::uint8_t length = 0;               // of the instruction, or of all instructions, in the slot
  EntryLead lead;                        // for a jump at an entry: the instruction before the site
  bool shows_words = false;              // its pad loads the words on the stack
  bool is_tapped = false;                // its pad leads to a tap, which calls what is in the slot (TapArea)
  Guard guard = Guard::None;
  Way way = Way::Trap;
  bool is_lifted = false;      // no int3 is there now; the site still identifies late traps. arm() sets it again
  std::uint8_t repairs = 0;    // how often the program removed it
  std::int64_t armed_at = 0;   // CLOCK_BOOTTIME
  std::int64_t rested_at = 0;  // CLOCK_BOOTTIME of the lift for lack of return places; may have been armed since
  // A word of the user of the sites. It goes with the site through repairs and forks; probe/ does not read it.
  std::uint64_t use = 0;

  bool is_entry_jump() const { return way == Way::Jump && guard == Guard::None; }
  bool is_guard_jump() const { return way == Way::Jump && guard != Guard::None; }
  // A thread may be one byte after the int3 without having hit it: after a one-byte instruction, and if a guard's pad
  // skipped its int3.
  bool needs_proof() const { return length == 1 || is_guard_jump(); }

  // The moved instruction.
  RemoteAddr moved() const { return slot + (form_of(guard).leads_through_net ? kGuardSize : 0); }
  // For a site that jumps: its pad, and the int3 there.
  RemoteAddr pad() const { return slot + kSlotSize; }
  EntryPad entry_pad() const { return {lead.depth, shows_words}; }
  bool has_pad_trap() const { return is_entry_jump() || (is_guard_jump() && form_of(guard).trap_at != 0); }
  RemoteAddr pad_trap() const { return pad() + (is_entry_jump() ? entry_pad().trap_at() : form_of(guard).trap_at); }
  // True if the int3 at `trap` is in the pad of an entry: its registers show the call, and the thread continues by
  // itself.
  bool is_entry_pad(RemoteAddr trap) const { return is_entry_jump() && trap == pad_trap(); }
  // The address at which a thread continues after a hit.
  RemoteAddr beyond(RemoteAddr trap) const { return is_entry_pad(trap) ? trap + 1 : slot; }
  NetTable::Entry table_entry() const { return {address, slot, original, length, guard, way}; }
  // The net must send a thread at the pad's int3 to the slot. A thread in the pad of an entry goes on by itself.
  bool has_pad_entry() const { return is_guard_jump() && has_pad_trap(); }
  NetTable::Entry pad_entry() const { return {pad_trap(), slot, original, length, guard, Way::Pad}; }
};

}  // namespace fade
