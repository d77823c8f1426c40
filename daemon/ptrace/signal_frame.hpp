// What the kernel pushes on a thread's stack before it runs a signal handler (struct rt_sigframe in
// arch/x86/include/asm/sigframe.h). Reads only.
#pragma once
#include <cstdint>
#include <vector>

#include "base/remote.hpp"

namespace fade {

struct SignalFrame {
  RemoteAddr at;
  RemoteAddr restorer;     // where the handler returns to, for an rt_sigreturn
  RemoteAddr ip;           // where the thread goes on then
  std::uint64_t mask = 0;  // and with these signals blocked: bits, number 1 the lowest
};

// The frames on the stack from `sp` on (128 KiB at most), innermost first. One that is over may still be there, whole, in a part of
// the stack that nobody has written to since.
std::vector<SignalFrame> signal_frames(const Memory& memory, RemoteAddr sp);

}  // namespace fade
