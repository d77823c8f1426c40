// The frame that the kernel pushes on a thread's stack before it runs a signal handler (struct rt_sigframe in
// arch/x86/include/asm/sigframe.h). Reads only.
#pragma once
#include <cstdint>
#include <vector>

#include "base/remote.hpp"

namespace fade {

struct SignalFrame {
  RemoteAddr at;
  RemoteAddr restorer;     // return target of the handler, for an rt_sigreturn
  RemoteAddr ip;           // the place where the thread then continues
  RemoteAddr sp;           // its stack pointer there
  std::uint64_t mask = 0;  // with these signals blocked: bits, number 1 the lowest
};

// The frames on the stack from `sp` on (128 KiB at most), innermost first. A finished frame may still be complete in an
// unused part of the stack, and is returned too.
std::vector<SignalFrame> signal_frames(const Memory& memory, RemoteAddr sp);

}  // namespace fade
