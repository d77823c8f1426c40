// The code of a guarded site: its slot, and the pad that a guarded jump leads to. Pure; knows no process.
//
//   Sigaction  int3 -> slot: the net's code, then the moved instruction
//   Sigmask    jump -> pad: asks the kernel whether SIGTRAP is blocked; int3 where it is not -> slot as above. libc calls
//              pthread_sigmask with all signals blocked between fork and exec of posix_spawn(3), system(3) and popen(3),
//              and an int3 that meets a blocked SIGTRAP kills where no tracer is.
//   Loader     jump -> pad: asks the net; int3 where it is harmless -> slot: the moved instruction
//   Clone      jump -> pad -> slot: the net's code, then the moved instruction. No int3.
#pragma once
#include <optional>
#include <span>
#include <vector>

#include "probe/relocate.hpp"
#include "probe/safety_net.hpp"

namespace fade {

// Facts about a kind of guard. Offsets count from the pad's first byte.
struct GuardForm {
  bool jumps = false;              // where the instruction allows it; else an int3 stands at the site
  bool leads_through_net = false;  // on the way through its slot
  bool needs_jump = false;         // an int3 instead would be of no use
  std::uint8_t trap_at = 0;        // of the pad's int3; 0: it has none
  // The pad has changed registers that the function needs in between.
  std::uint8_t changed_from = 0, changed_to = 0;
};
const GuardForm& form_of(Guard guard);

// Bytes of a slot before the moved instruction, where it leads through the net.
constexpr std::size_t kGuardSize = 19;

// The way through the net's code at `guard`. Uses %rcx and %r11, which are free where a function begins and behind a
// system call.
std::vector<std::uint8_t> way_through_net(RemoteAddr guard);

// The code of a pad at `pad`, which goes on at `after`. `net_code`: what the Loader's pad calls.
std::vector<std::uint8_t> guard_pad(Guard guard, RemoteAddr pad, RemoteAddr after, RemoteAddr net_code);

// How many bytes of an instruction at `site` a guarded jump replaces for its slot; nullopt: no jump is possible. One
// instruction of five bytes or more that reads the same wherever it stands; for the Loader, a return before padding,
// too.
std::optional<std::uint8_t> guard_jump_length(Guard guard, std::span<const std::uint8_t> bytes, RemoteAddr site);

// A return that is shorter than the jump over it has the padding behind it in its slot, too: that text can be read
// there.
void keep_padding(RelocatedInstruction& moved, std::span<const std::uint8_t> bytes);

}  // namespace fade
