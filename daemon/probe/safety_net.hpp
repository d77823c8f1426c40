// The mapping that fade puts into every watched process before the first breakpoint: a SIGTRAP handler, a table site ->
// slot, room for slots, and the gadgets of remote calls (net_code.S). It keeps sites harmless after fade's end, and
// shows a later fade the changes to the process. A value: a fork copies the mapping, so it copies this object too.
#pragma once
#include <array>
#include <optional>
#include <span>
#include <vector>

#include "base/result.hpp"
#include "elf/maps.hpp"
#include "ptrace/remote_call.hpp"

namespace fade {

// Layout, offsets from the base. net_code.S has the same offsets. One page of data that the program's own threads write
// (rw-), then all the rest (r-x). So the header always begins a mapping of the kernel, next to any other mapping.
struct NetLayout {
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

class SafetyNet {
 public:
  // The table's entry of a site. Slot 0: a forgotten site.
  struct Entry {
    RemoteAddr site, slot;
    std::uint8_t original = 0;  // the byte under the int3
    std::uint8_t length = 0;    // of the instruction in the slot
    Guard guard = Guard::None;
    Way way = Way::Trap;
  };

  // Maps the net within reach of `near` and makes it the SIGTRAP handler. The thread must be able to make remote calls
  // with `bootstrap`.
  static Result<SafetyNet> install(const SystemCaller& caller, const ProcessMemory& memory, const ProcFiles& proc,
                                   pid_t stopped, RemoteGadgets bootstrap, RemoteRange near);
  // The net of an earlier fade; nullopt: none. Its content is checked before use; a damaged net gives an Error.
  static Result<std::optional<SafetyNet>> find(const Memory& memory, const elf::Maps& maps);

  RemoteAddr handler() const { return handler_; }
  // Makes the handler the net's again after the kernel reset it (it does so when a trap meets a blocked SIGTRAP).
  // Returns the former action.
  Result<KernelSigaction> take_signal(const RemoteCall& call, const Memory& memory) const;
  // Gives the program's action to the kernel, if the kernel's action still is the net's. `restorer` serves an action
  // that has none.
  Result<void> give_signal_back(const RemoteCall& call, const ProcessMemory& memory, pid_t stopped,
                                RemoteAddr restorer) const;
  // The SIGTRAP action that the program has set: foreign traps go there. Its restorer counts only with SA_RESTORER
  // among its flags.
  KernelSigaction program_action(const Memory& memory) const;
  // The last known action: for use when an exec has removed the memory.
  const KernelSigaction& last_program_action() const { return program_action_; }
  bool set_program_action(const ProcessMemory& memory, pid_t stopped, const KernelSigaction& action);
  // Code outside the net that makes an rt_sigreturn: the program's handler, called by the net's, returns there.
  bool set_restorer(const ProcessMemory& memory, pid_t stopped, RemoteAddr restorer) const;

  bool stands_in(const Memory& memory) const {
    return memory.value<std::uint64_t>(base_ + NetLayout::kMagicAt) == NetLayout::kMagic;
  }

  RemoteAddr base() const { return base_; }
  RemoteRange range() const { return {base_, base_ + NetLayout::kSize}; }
  RemoteGadgets gadgets() const { return {syscall_ret_, sigreturn_}; }
  RemoteAddr ret() const { return syscall_ret_ + 2; }  // a `ret`
  // Not for Guard::None.
  RemoteAddr guard_code(Guard guard) const { return guards_[static_cast<std::size_t>(guard) - 1]; }
  // Tells the Loader's guard whether libc's guards are armed. While they are, a handler other than the net's is trusted
  // to be set by a program that fade sees.
  bool set_guarded(const ProcessMemory& memory, pid_t stopped, bool guarded) const;
  SlotArea slots() const;

  // From now on, without fade, a thread at the site continues in its slot. Slot 0 forgets the site, but its entry stays
  // taken. Not when is_full().
  bool set(const ProcessMemory& memory, pid_t stopped, const Entry& entry);
  // The same for many entries, in one write if they are many. If fade is killed in the middle, some entries are
  // missing.
  bool set_all(const ProcessMemory& memory, pid_t stopped, std::span<const Entry> entries);
  static constexpr std::size_t kMostAtOnce = 512;  // fit if the table is not full
  bool is_full() const { return sites_ >= kMostSites; }
  std::uint64_t places_left() const { return is_full() ? 0 : kMostSites - sites_; }  // entries that can still be set
  std::uint64_t places_taken() const { return sites_; }                              // including forgotten sites
  // Writes the table anew, without the entries of forgotten sites. Returns false if the live entries are too many. No
  // live site is missing at any moment.
  bool rewrite(const ProcessMemory& memory, pid_t stopped, const std::vector<Entry>& live);
  // The table in the process, without forgotten sites. A damaged table gives an Error.
  Result<std::vector<Entry>> entries(const Memory& memory) const;

  // Adds another area with slots for the handler.
  bool add_range(const ProcessMemory& memory, pid_t stopped, RemoteRange range);
  // The areas added so far, read from the process, without the net's own area.
  Result<std::vector<RemoteRange>> ranges(const Memory& memory, const elf::Maps& maps) const;
  // Removes the last area; no thread may be in it.
  bool drop_range(const ProcessMemory& memory, pid_t stopped);
  // For the copy of memory of a fork during these steps: `areas` are the areas that exist there.
  bool mend_ranges(const ProcessMemory& memory, pid_t stopped, std::span<const SlotArea> areas);

 private:
  explicit SafetyNet(RemoteAddr base);
  bool write_image(const ProcessMemory& memory, pid_t stopped) const;
  Result<KernelSigaction> become_handler(const RemoteCall& call, const Memory& memory, std::uint64_t old_at) const;
  static Result<SafetyNet> adopt(const Memory& memory, const elf::Maps& maps, const elf::Mapping& rest);
  bool read_code(const Memory& memory);
  bool count(const Memory& memory, const elf::Maps& maps);
  Result<std::vector<std::array<std::uint64_t, 2>>> read_table(const Memory& memory) const;

  static constexpr std::uint64_t kMostSites = NetLayout::kTableEntries * 3 / 4;

  RemoteAddr base_;
  RemoteAddr handler_, sigreturn_, syscall_ret_;
  std::array<RemoteAddr, kGuards> guards_;
  RemoteAddr table_;  // the one in force
  KernelSigaction program_action_;
  std::uint64_t sites_ = 0;  // used entries of the table, including forgotten sites
  std::uint64_t ranges_ = 0;
};

// Maps `size` bytes, readable and executable, within +-2 GiB of all of `near`.
Result<RemoteRange> map_near(const RemoteCall& call, pid_t pid, const ProcFiles& proc, RemoteRange near,
                             std::uint64_t size);

}  // namespace fade
