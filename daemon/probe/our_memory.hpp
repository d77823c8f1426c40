// The memory that fade maps into one process: the net, and areas of slots. Owns them with their bookkeeping, and makes
// the system calls in the process that map and unmap. Tracing thread only.
#pragma once
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/pid.hpp"
#include "probe/net_layout.hpp"
#include "probe/safety_net.hpp"
#include "probe/site_table.hpp"
#include "probe/site_text.hpp"
#include "probe/slot_areas.hpp"
#include "probe/tap_area.hpp"
#include "probe/tap_rings.hpp"
#include "proc/proc_files.hpp"
#include "ptrace/remote_call.hpp"

namespace fade {

// Replaces a stopped thread if the process's memory can be written without one. Then no room for slots can be made,
// because this takes a system call of the process itself. Never pass a thread that may have an unhandled stop: the call
// would remove its signal.
inline constexpr Tid kNobody = 0;

class OurMemory {
 public:
  // `proc`: the folder that shows the process. `caller` must outlive this.
  OurMemory(const SystemCaller& caller, Pid pid, ProcFiles proc)
      : pid_(pid), caller_(caller), proc_(std::move(proc)), memory_(pid, proc_) {}
  // The same in the memory copy of a fork.
  OurMemory(const OurMemory& parent, Pid child);

  Pid pid() const { return pid_; }
  const ProcFiles& proc() const { return proc_; }
  const ProcessMemory& memory() const { return memory_; }  // all of the process's memory
  // Null: the process has no net.
  SafetyNet* net() { return net_ ? &*net_ : nullptr; }
  const SafetyNet* net() const { return net_ ? &*net_ : nullptr; }
  const SlotAreas& slots() const { return slots_; }
  // Null: the process has no taps.
  TapArea* taps() { return taps_ ? &*taps_ : nullptr; }
  const TapArea* taps() const { return taps_ ? &*taps_ : nullptr; }
  // Writes and compares the text of sites. Only with a net; sites exist only with one.
  SiteText text() const { return {memory_, *net_}; }

  Result<void> install_net(Tid stopped, RemoteGadgets bootstrap, RemoteRange near);
  // Takes over a net of an earlier fade.
  void adopt_net(const SafetyNet& net);
  // Takes over its areas: new slots come after all used ones. Returns false if an entry's slot can be none.
  bool adopt_areas(const std::vector<RemoteRange>& areas, const std::vector<NetTable::Entry>& entries);
  // The memory is gone, or is another program's: nothing is unmapped.
  void forget();
  // For the memory copy of a fork: an area that the copy lacks is forgotten, and the net's list of areas is repaired.
  void mend_areas(Tid stopped);
  // Unmaps all areas, and the net last. Refused after must_stay(), and while a call may be under way through a tap.
  Result<void> unmap(Tid stopped, RemoteGadgets outside);
  // A copy of a jump may lead into a pad, so the memory can never be unmapped.
  void must_stay() { must_stay_ = true; }
  // Tells the net whether libc's guards are armed. They are armed before this call, and put back after it.
  bool set_guarded(bool guarded, Tid stopped) { return net_ && net_->set_guarded(memory_, stopped, guarded); }

  // A slot within reach of the site; a jump also gets the next slot, for its pad. Maps an area if there is none.
  Result<RemoteAddr> slot_for(Way way, RemoteAddr site, Tid stopped);
  // The slot of a site that is gone.
  void give_back(Way way, RemoteAddr slot) { slots_.give_back(way, slot); }
  // Ensures that later sites in `range` find many slots within reach.
  Result<void> reserve(RemoteRange range, Tid stopped);

  // Maps the area of taps within reach of `near`. It is off.
  Result<void> place_taps(RemoteRange near, const SiteTable& live, Tid stopped);
  Result<std::shared_ptr<TapRings>> make_rings(Tid stopped);

  // The net's entries of a site, and of its pad.
  bool enter(const Site& site, Tid stopped);
  bool strike(RemoteAddr trap, Tid stopped) { return net_->table().set(memory_, stopped, {.site = trap}); }
  // Ensures that the table has room for entries of one more site, or of NetTable::kMostAtOnce.
  Result<void> make_room(const SiteTable& live, Tid stopped);
  // Writes the table anew, for the live sites alone.
  bool rewrite_table(const SiteTable& live, Tid stopped);

  // Refuses system calls in a process without a net, or with a seccomp filter that it did not have at the start.
  Result<void> may_call(Tid stopped) const;
  RemoteCall call_with(RemoteGadgets gadgets, Tid stopped) const { return {caller_, memory_, stopped, gadgets}; }

 private:
  Result<void> add_area(RemoteRange near, Tid stopped);
  Result<RemoteRange> map_taps(RemoteRange near, Tid stopped) const;
  void unmap_rings_of_parent(const RemoteCall& call);

  Pid pid_;
  const SystemCaller& caller_;
  ProcFiles proc_;
  ProcessMemory memory_;
  std::optional<SafetyNet> net_;
  SlotAreas slots_;
  std::optional<TapArea> taps_;  // its code is one of the areas, without room for slots
  std::string seccomp_at_start_;
  bool must_stay_ = false;
  bool has_rings_of_parent_ = false;
};

}  // namespace fade
