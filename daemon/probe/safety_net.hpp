// The mapping that fade puts into every watched process before the first breakpoint: a SIGTRAP handler, a table
// site -> slot, room for slots, and the gadgets of remote calls (net_code.S). It makes sites harmless when fade is
// gone, and tells a later fade what was done to the process. A value: a fork copies the mapping, so it copies this too.
#pragma once
#include <array>
#include <optional>
#include <span>
#include <vector>

#include "base/result.hpp"
#include "elf/maps.hpp"
#include "ptrace/remote_call.hpp"

namespace fade {

// Layout, offsets from the base. net_code.S knows them too. One page of data that the program's own threads write (rw-),
// then all the rest (r-x): so the header always begins a mapping of the kernel's, whatever is mapped beside it.
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
  static constexpr std::uint64_t kTablesAt = kCodeEnd;  // two, of which one is in force
  static constexpr std::uint64_t kSlotsAt = kTablesAt + 2 * kTableSize;
  static constexpr std::uint64_t kSize = kSlotsAt + 8192 * 64;
};

// What rt_sigaction(2) takes, not what libc wraps.
struct KernelSigaction {
  std::uint64_t handler = 0, flags = 0, restorer = 0, mask = 0;
};

// Free slots in [next, end).
struct SlotArea {
  RemoteRange range;
  RemoteAddr next;
};

// Sites that keep int3 harmless (guard_pad.hpp).
//   Sigaction, Sigmask: functions of libc that could make SIGTRAP useless to the net. Code of the net does what the
//                       function would, but for SIGTRAP.
//   Loader:             the loader's function for debuggers. Code of the net decides whether an int3 is harmless there.
//   Clone:              libc's syscall(2). Code of the net gives a child that clone3(2) made without signal handlers
//                       (CLONE_CLEAR_SIGHAND) the net's handler.
enum class Guard : std::uint8_t { None, Sigaction, Sigmask, Loader, Clone };
constexpr std::size_t kGuards = 4;  // that have code in the net
// The other sites rely on these. They are armed first and put back last.
constexpr bool is_guard_of_libc(Guard guard) { return guard != Guard::None && guard != Guard::Loader; }

// How a site leads to its slot: by an int3 in the text; by a jump in the text to the pad (the slot behind its slot), in
// which an int3 stands; Pad: that int3.
enum class Way : std::uint8_t { Trap, Jump, Pad };

class SafetyNet {
 public:
  // What the table says of a site. Slot 0: a forgotten one.
  struct Entry {
    RemoteAddr site, slot;
    std::uint8_t original = 0;  // the byte under the int3
    std::uint8_t length = 0;    // of the instruction that went into the slot
    Guard guard = Guard::None;
    Way way = Way::Trap;
  };

  // Maps the net within reach of `near` and makes it the SIGTRAP handler. The thread must be able to make remote calls
  // with `bootstrap`.
  static Result<SafetyNet> install(const Tracer& tracer, const ProcessMemory& memory, pid_t stopped,
                                   RemoteGadgets bootstrap, RemoteRange near);
  // The net that an earlier fade left behind. nullopt: there is none. Nothing that stands in it is believed without a
  // check; one that makes no sense is an error.
  static Result<std::optional<SafetyNet>> find(const Memory& memory, const elf::Maps& maps);

  RemoteAddr handler() const { return handler_; }
  // Makes the handler ours again after the kernel took it away (it does when a trap meets a blocked SIGTRAP). Returns
  // the action that was set before.
  Result<KernelSigaction> take_signal(const RemoteCall& call, const Memory& memory) const;
  // Sets the program's action for the kernel, if the kernel's still is ours. `restorer` serves an action that has none.
  Result<void> give_signal_back(const RemoteCall& call, const ProcessMemory& memory, pid_t stopped,
                                RemoteAddr restorer) const;
  // What the program believes its SIGTRAP action to be: foreign traps go there. Its restorer counts only with SA_RESTORER
  // among its flags.
  KernelSigaction program_action(const Memory& memory) const;
  // As it was told last: for when the memory has gone with an exec.
  const KernelSigaction& last_program_action() const { return program_action_; }
  bool set_program_action(const ProcessMemory& memory, pid_t stopped, const KernelSigaction& action);
  // Code outside of the net that makes an rt_sigreturn: the program's handler, called by ours, returns there.
  bool set_restorer(const ProcessMemory& memory, pid_t stopped, RemoteAddr restorer) const;

  bool stands_in(const Memory& memory) const { return memory.value<std::uint64_t>(base_ + NetLayout::kMagicAt) == NetLayout::kMagic; }

  RemoteAddr base() const { return base_; }
  RemoteRange range() const { return {base_, base_ + NetLayout::kSize}; }
  RemoteGadgets gadgets() const { return {syscall_ret_, sigreturn_}; }
  RemoteAddr ret() const { return syscall_ret_ + 2; }  // a `ret`
  // Not for Guard::None.
  RemoteAddr guard_code(Guard guard) const { return guards_[static_cast<std::size_t>(guard) - 1]; }
  // Tells the Loader's guard whether libc's guards stand. While they do, a handler that is not the net's is trusted to
  // be the work of a program that fade sees.
  bool set_guarded(const ProcessMemory& memory, pid_t stopped, bool guarded) const;
  SlotArea slots() const;

  // From now on a thread that stands at the site without us goes on in its slot; slot 0 forgets the site, but its entry
  // stays taken. Not when is_full().
  bool set(const ProcessMemory& memory, pid_t stopped, const Entry& entry);
  // The same for many at once, in one write where they are many. Should we be killed in the middle, some of them are not there.
  bool set_all(const ProcessMemory& memory, pid_t stopped, std::span<const Entry> entries);
  static constexpr std::size_t kMostAtOnce = 512;  // have room where the table is not full
  bool is_full() const { return sites_ >= kMostSites; }
  std::uint64_t places_left() const { return is_full() ? 0 : kMostSites - sites_; }  // entries that can still be set
  std::uint64_t places_taken() const { return sites_; }  // those of forgotten sites included
  // The table anew, without the entries of forgotten sites. False if these are too many, too. At no moment is a live
  // site missing.
  bool rewrite(const ProcessMemory& memory, pid_t stopped, const std::vector<Entry>& live);
  // The table as it stands in the process, forgotten sites left out. An error where it makes no sense.
  Result<std::vector<Entry>> entries(const Memory& memory) const;

  // Tells the handler of another area with slots in it.
  bool add_range(const ProcessMemory& memory, pid_t stopped, RemoteRange range);
  // The areas added so far, as they stand in the process; the net's own is not among them.
  Result<std::vector<RemoteRange>> ranges(const Memory& memory, const elf::Maps& maps) const;
  // The last one: nobody is in it any more.
  bool drop_range(const ProcessMemory& memory, pid_t stopped);
  // In the copy of memory that a fork made in the middle of all this: these are the areas that exist there.
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
  std::uint64_t sites_ = 0;  // entries of the table in use, forgotten ones included
  std::uint64_t ranges_ = 0;
};

// Maps `size` bytes, readable and executable, from where all of `near` is within +-2 GiB.
Result<RemoteRange> map_near(const RemoteCall& call, pid_t pid, RemoteRange near, std::uint64_t size);

}  // namespace fade
