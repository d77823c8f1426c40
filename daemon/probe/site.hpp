#pragma once
#include <array>
#include <cstdint>

#include "base/remote.hpp"
#include "probe/entry_jump.hpp"
#include "probe/guard_pad.hpp"
#include "probe/safety_net.hpp"

namespace fade {

// One patched address: what stood there, what stands there now, and where its instructions went. Its first slot holds
// the instructions; of a jump, the slot behind it holds the pad.
struct Site {
  RemoteAddr address;
  RemoteAddr slot;
  std::uint8_t original = 0;  // the byte under the int3
  std::array<std::uint8_t, 4> behind{};  // the bytes behind it that a jump covers too
  std::uint8_t length = 0;    // of the instruction that went into the slot, or of all that did
  EntryLead lead;             // of a jump at an entry: what stands before the site
  bool shows_words = false;   // its pad brings the words on the stack
  Guard guard = Guard::None;
  Way way = Way::Trap;
  bool is_lifted = false;     // no int3 stands there now; late traps are still known by it. arm() sets it again
  std::uint8_t repairs = 0;   // how often the program took it out
  std::int64_t armed_at = 0;    // CLOCK_BOOTTIME
  std::int64_t rested_at = 0;   // the same, when it was lifted because places to return to are scarce; it may have been armed since
  // Use by the session; 0: none of that kind.
  std::uint32_t entry = 0;      // index of the function that begins here
  std::uint32_t call_site = 0;  // calls return to here

  bool is_entry_jump() const { return way == Way::Jump && guard == Guard::None; }
  bool is_guard_jump() const { return way == Way::Jump && guard != Guard::None; }
  bool is_return() const { return call_site != 0 && entry == 0 && guard == Guard::None && way == Way::Trap; }
  // A thread may stand one byte past the int3 without having hit it: behind a one-byte instruction, and where a guard's
  // pad left its int3 out.
  bool needs_proof() const { return length == 1 || is_guard_jump(); }

  // The moved instruction.
  RemoteAddr moved() const { return slot + (form_of(guard).leads_through_net ? kGuardSize : 0); }
  // Of a site that jumps: its pad, and the int3 there.
  RemoteAddr pad() const { return slot + kSlotSize; }
  EntryPad entry_pad() const { return {lead.depth, shows_words}; }
  bool has_pad_trap() const { return is_entry_jump() || (is_guard_jump() && form_of(guard).trap_at != 0); }
  RemoteAddr pad_trap() const { return pad() + (is_entry_jump() ? entry_pad().trap_at() : form_of(guard).trap_at); }
  // Whether the int3 at `trap` is the one in the pad of an entry: it shows its registers, and the thread goes on by itself.
  bool is_entry_pad(RemoteAddr trap) const { return is_entry_jump() && trap == pad_trap(); }
  // Where a thread that hit it goes on.
  RemoteAddr beyond(RemoteAddr trap) const { return is_entry_pad(trap) ? trap + 1 : slot; }
  SafetyNet::Entry table_entry() const { return {address, slot, original, length, guard, way}; }
  // The net must send a thread at the pad's int3 to the slot. A thread in the pad of an entry goes on by itself.
  bool has_pad_entry() const { return is_guard_jump() && has_pad_trap(); }
  SafetyNet::Entry pad_entry() const { return {pad_trap(), slot, original, length, guard, Way::Pad}; }
};

}  // namespace fade
