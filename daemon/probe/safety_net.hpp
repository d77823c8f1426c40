// The mapping that fade puts into every watched process before the first breakpoint: a SIGTRAP handler, a table
// site -> slot, room for slots, and the gadgets of remote calls (net_code.S). It makes sites harmless when fade is
// gone. A value: a fork copies the mapping, so it copies this too. Never unmapped: threads may stand in a slot.
#pragma once
#include <algorithm>
#include <optional>
#include <vector>

#include "base/result.hpp"
#include "ptrace/remote_call.hpp"

namespace fade {

// Layout, offsets from the base. net_code.S knows them too.
struct NetLayout {
  static constexpr std::uint64_t kMagic = 0x31'54'45'4e'45'44'41'46;  // "FADENET1"
  static constexpr std::uint64_t kMagicAt = 0x0, kSitesAt = 0x8, kOldHandlerAt = 0x18;
  static constexpr std::uint64_t kRangesAt = 0x20, kRanges = 29;  // pairs, then a zero
  static constexpr std::uint64_t kCodeAt = 0x200, kTableAt = 0x1000;
  static constexpr std::uint64_t kTableBits = 14, kTableEntries = 1 << kTableBits;
  static constexpr std::uint64_t kSlotsAt = kTableAt + kTableEntries * 16;
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

class SafetyNet {
 public:
  // Maps the net within reach of `near` and makes it the SIGTRAP handler. The thread must be able to make remote calls
  // with `bootstrap`.
  static Result<SafetyNet> install(const Tracer& tracer, const ProcessMemory& memory, pid_t stopped,
                                   RemoteGadgets bootstrap, RemoteRange near);

  // Makes the handler ours again after the kernel took it away (it does when a trap meets a blocked SIGTRAP).
  Result<KernelSigaction> take_signal(const RemoteCall& call, const ProcessMemory& memory, pid_t stopped) const;
  // What the program believes its SIGTRAP action to be: foreign traps go there.
  const KernelSigaction& program_action() const { return program_action_; }
  bool set_program_action(const ProcessMemory& memory, pid_t stopped, const KernelSigaction& action);

  RemoteAddr base() const { return base_; }
  RemoteGadgets gadgets() const;
  SlotArea slots() const;

  // From now on a thread that stands at `site` without us goes on in `slot`; slot 0 forgets the site, but its entry stays
  // taken. Not when is_full().
  bool set(const ProcessMemory& memory, pid_t stopped, RemoteAddr site, RemoteAddr slot);
  bool is_full() const { return sites_ >= kMostSites; }
  struct SiteSlot {
    RemoteAddr site, slot;
  };
  // The table anew, without the entries of forgotten sites. False if these are too many, too.
  bool rewrite(const ProcessMemory& memory, pid_t stopped, const std::vector<SiteSlot>& live);
  // Tells the handler of another area with slots in it.
  bool add_range(const ProcessMemory& memory, pid_t stopped, RemoteRange range);
  // The last `n` that were added do not exist in this copy.
  void forget_ranges(std::uint64_t n) { ranges_ -= std::min(n, ranges_); }

 private:
  explicit SafetyNet(RemoteAddr base) : base_(base) {}
  bool write_image(const ProcessMemory& memory, pid_t stopped) const;

  static constexpr std::uint64_t kMostSites = NetLayout::kTableEntries * 3 / 4;

  RemoteAddr base_;
  KernelSigaction program_action_;
  std::uint64_t sites_ = 0;  // entries of the table in use, forgotten ones included
  std::uint64_t ranges_ = 0;
};

// Maps `size` bytes, readable and executable, from where all of `near` is within +-2 GiB.
Result<RemoteRange> map_near(const RemoteCall& call, pid_t pid, RemoteRange near, std::uint64_t size);

}  // namespace fade
