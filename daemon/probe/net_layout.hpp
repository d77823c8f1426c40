// Layout and vocabulary of the net (net_code.S has the same offsets): one page of data that the program's own threads
// write (rw-), then all the rest (r-x). So the header always begins a mapping of the kernel, next to any other mapping.
#pragma once
#include <cstddef>
#include <cstdint>

#include "base/remote.hpp"

namespace fade {

// Offsets from the base.
struct NetLayout {  // the map of one area: most offsets follow from the one before
  static constexpr std::uint64_t kMagic = 0x33'54'45'4e'45'44'41'46;  // "FADENET3"
  static constexpr std::uint64_t kProgramActionAt = 0x0, kScratchAt = 0x40, kDataSize = 0x1000;
  static constexpr std::uint64_t kHeaderAt = kDataSize, kMagicAt = kHeaderAt, kGeometryAt = kHeaderAt + 0x8;
  static constexpr std::uint64_t kTableNowAt = kHeaderAt + 0x20, kRestorerAt = kHeaderAt + 0x28;
  static constexpr std::uint64_t kOurActionAt = kHeaderAt + 0x30, kSyscallAt = kHeaderAt + 0x50;
  static constexpr std::uint64_t kGuardsAt = kHeaderAt + 0x58;  // kGuards
  static constexpr std::uint64_t kGuardedAt = kHeaderAt + 0x78;
  static constexpr std::uint64_t kRangesAt = kHeaderAt + 0x80, kRanges = 55;  // pairs, then a zero
  static constexpr std::uint64_t kCodeAt = kHeaderAt + 0x400, kCodeEnd = kHeaderAt + 0x1000;
  static constexpr std::uint64_t kTableBits = 14, kTableEntries = 1 << kTableBits, kTableSize = kTableEntries * 16;
  static constexpr std::uint64_t kTablesAt = kCodeEnd;  // two, one of them in force
  static constexpr std::uint64_t kSlotsAt = kTablesAt + 2 * kTableSize;
  static constexpr std::uint64_t kSize = kSlotsAt + 8192 * 64;
};

// The struct of rt_sigaction(2), not libc's.
struct KernelSigaction {
  static constexpr std::uint64_t kSaRestorer = 0x04000000;  // of the flags

  std::uint64_t handler = 0, flags = 0, restorer = 0, mask = 0;
};

// Free slots in [next, end).
struct SlotArea {
  RemoteRange range;
  RemoteAddr next;
};

// Sites that keep int3 harmless (guard_pad.hpp).
// Sigaction, Sigmask: functions of libc that could make SIGTRAP useless to the net. Code of the net does the work of
//                     the function, except for SIGTRAP.
// Loader:             the loader's function for debuggers. Code of the net decides if an int3 is harmless there.
// Clone:              libc's syscall(2). Code of the net gives a child that clone3(2) made without signal handlers
//                     (CLONE_CLEAR_SIGHAND) the net's handler.
enum class Guard : std::uint8_t { None, Sigaction, Sigmask, Loader, Clone };
constexpr std::size_t kGuards = 4;  // number of guards that have code in the net
// All other sites rely on these guards. They are armed first and put back last.
constexpr bool is_guard_of_libc(Guard guard) { return guard != Guard::None && guard != Guard::Loader; }

// The way from a site to its slot. Trap: an int3 in the text; Jump: a jump in the text to the pad (the slot after its
// slot), which has an int3; Pad: that int3.
enum class Way : std::uint8_t { Trap, Jump, Pad };

}  // namespace fade
