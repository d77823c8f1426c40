// Signals as bits of a set, as the kernel has them: number 1 is the lowest.
#pragma once
#include <signal.h>

#include <cstdint>

namespace fade {

constexpr std::uint64_t signal_bit(int signal) { return std::uint64_t{1} << (signal - 1); }

// The signal of breakpoints.
inline constexpr std::uint64_t kTrapBit = signal_bit(SIGTRAP);
// libc uses these two itself and does not let programs block them (nptl/pthread_sigmask.c).
inline constexpr std::uint64_t kBitsOfLibc = signal_bit(32) | signal_bit(33);

}  // namespace fade
