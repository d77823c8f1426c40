// The code of a guarded site: its slot, and the pad that a guarded jump leads to. Pure; knows no process.
//
// Sigaction  int3 -> slot: the net's code, then the moved instruction
// Sigmask    jump -> pad: asks the kernel if SIGTRAP is blocked; int3 if it is not -> slot as above.
//            libc calls pthread_sigmask with all signals blocked between fork and exec of posix_spawn(3), system(3)
//            and popen(3). Without a tracer, an int3 with blocked SIGTRAP kills.
// Loader     jump -> pad: asks the net; int3 if it is harmless -> slot: the moved instruction
// Clone      jump -> pad -> slot: the net's code, then the moved instruction. No int3.
#pragma once
#include <optional>
#include <span>
#include <vector>

#include "probe/net_layout.hpp"
#include "probe/relocate.hpp"

namespace fade {

// Facts about a kind of guard. Offsets count from the pad's first byte.
struct GuardForm {
  bool jumps = false;              // if the instruction allows it; else the site has an int3
  bool leads_through_net = false;  // in its slot
  bool needs_jump = false;         // an int3 instead would be useless
  std::uint8_t trap_at = 0;        // of the pad's int3; 0: no int3
  // The range of the pad in which registers that the function needs are changed.
  std::uint8_t changed_from = 0, changed_to = 0;
};
const GuardForm& form_of(Guard guard);

// Bytes of a slot before the moved instruction, if it leads through the net.
constexpr std::size_t kGuardSize = 19;

// Code that goes through the net's code at `guard`. Uses %rcx and %r11, which are free at the beginning of a function
// and after a system call.
std::vector<std::uint8_t> way_through_net(RemoteAddr guard);

// The code of a pad at `pad`, which continues at `after`. `net_code`: the code that the Loader's pad calls.
std::vector<std::uint8_t> guard_pad(Guard guard, RemoteAddr pad, RemoteAddr after, RemoteAddr net_code);

// The number of bytes at `site` that a guarded jump replaces for its slot; nullopt: no jump is possible. One
// instruction of at least five bytes that means the same at any address; for the Loader, also a return before padding.
std::optional<std::uint8_t> guard_jump_length(Guard guard, std::span<const std::uint8_t> bytes, RemoteAddr site);

// A return shorter than the jump over it: the slot keeps the padding after it, too, so the text can be restored from
// the slot.
void keep_padding(RelocatedInstruction& moved, std::span<const std::uint8_t> bytes);

}  // namespace fade
