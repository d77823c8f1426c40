// What fade has put into one address space: breakpoint sites, and the memory with the net and the slots of their
// instructions. Shared by processes that share memory (vfork, CLONE_VM); copied by fork; replaced by exec. Tracing
// thread only.
//
// An armed site is never lifted to step over it: a thread that hit it continues in the site's slot.
//
// The work is done by views, which are made when they are needed and hold no state of their own.
#pragma once
#include <memory>
#include <utility>

#include "base/pid.hpp"
#include "probe/entry_conversion.hpp"
#include "probe/entry_sites.hpp"
#include "probe/leftovers.hpp"
#include "probe/our_code.hpp"
#include "probe/our_memory.hpp"
#include "probe/return_sites.hpp"
#include "probe/site_arming.hpp"
#include "probe/text_check.hpp"
#include "probe/trap_signal.hpp"
#include "probe/vanished_sites.hpp"

namespace fade {

class AddressSpace {
 public:
  // `proc`: the folder that shows the process. `caller` must outlive this.
  AddressSpace(const SystemCaller& caller, Pid pid, ProcFiles proc = ProcFiles())
      : ours_(caller, pid, std::move(proc)) {}
  // The same sites in the memory copy of a fork.
  std::shared_ptr<AddressSpace> fork_copy(Pid child) const;

  // A copy of memory from before the net was installed has neither net nor sites.
  void forget_missing_net();
  // Repairs differences between parent and child of a fork. Between the fork and its event, sites may have been armed
  // in the parent only, or put back there only: does the same in the child. Call at the child's first stop, when the
  // net is its SIGTRAP handler.
  void mend_copy(Tid stopped);

  const ProcessMemory& memory() const { return ours_.memory(); }
  const ProcFiles& proc() const { return ours_.proc(); }
  const SiteTable& sites() const { return sites_; }
  bool has_net() const { return ours_.net() != nullptr; }
  // Call before the first arm(). Once per address space.
  Result<void> install_net(Tid stopped, RemoteGadgets bootstrap, RemoteRange near) {
    return ours_.install_net(stopped, bootstrap, near);
  }
  // Takes over the remains of an earlier fade. arm() sets the wanted sites again. nullopt: no remains. Call instead of
  // install_net().
  Result<std::optional<Leftovers>> take_over(Tid stopped) { return Takeover(ours_, sites_).run(stopped); }
  // Reserves slots so that later sites in `range`, of two HIP libraries at least, need no remote call. For use before
  // the program forbids itself mmap, or if no thread will be stopped.
  Result<void> reserve(RemoteRange range, Tid stopped) { return ours_.reserve(range, stopped); }
  // Removes the net and all slots from the process, and gives the program's SIGTRAP action back to the kernel.
  // Afterwards this is an AddressSpace without net and sites. Call only after put_back(). No thread of any process that
  // shares this memory may be in our_code(), have a frame there, or have an unhandled trap. `outside`: as for
  // TrapSignal::give_back().
  Result<void> remove(Tid stopped, RemoteGadgets outside);

  // The site of the int3 at `address`, in the text or in the site's pad.
  Site* find(RemoteAddr address) { return sites_.find(address); }
  // The site of a function: in its first instruction, or the jump after it. Null: none.
  Site* of_function(RemoteAddr function) { return sites_.of_function(function); }
  // The armed site at `address`: an existing or a new one. `stopped` is any stopped thread, or kNobody; the thread may
  // run an mmap if no slot is within reach. Pointers stay valid until forget(). A guard is only for the beginning of a
  // function: its site may be behind the first instruction, and registers that are free there are lost.
  Result<Site*> arm(RemoteAddr address, Tid stopped, Guard guard = Guard::None) {
    return SiteArming(ours_, sites_).arm(address, stopped, guard);
  }
  // Tells the net whether libc's guards are armed. They are armed before this call, and put back after it.
  bool set_guarded(bool guarded, Tid stopped) { return ours_.set_guarded(guarded, stopped); }
  // The memory is gone (dlclose): nothing is written back. Returns the number of sites.
  std::size_t forget(RemoteRange range, Tid stopped);
  // Puts every original byte back. Slots stay mapped, and the sites stay known, for threads in or just before them.
  void put_back(Tid stopped);
  bool is_put_back() const { return sites_.is_closed(); }  // no site is armed any longer

  EntrySites entries() { return {ours_, sites_}; }
  EntryConversion conversion() { return {ours_, sites_}; }
  ReturnSites returns() { return {ours_, sites_}; }
  VanishedSites vanished() { return {ours_, sites_}; }
  TrapSignal trap_signal() { return {ours_, sites_}; }
  // Null: the process has no taps.
  TapArea* taps() { return ours_.taps(); }
  const TapArea* taps() const { return ours_.taps(); }
  // Maps the area of taps within reach of `near`; once per address space. It is off.
  Result<void> place_taps(RemoteRange near, Tid stopped) { return ours_.place_taps(near, sites_, stopped); }
  // Refuses anything that makes system calls in the process, if that may kill it.
  Result<void> may_call(Tid stopped) const { return ours_.may_call(stopped); }
  // For system calls of a stopped thread; only with a net, and after may_call().
  RemoteCall call_in(Tid stopped) const { return ours_.call_with(ours_.net()->gadgets(), stopped); }
  // Every tap becomes a breakpoint again.
  void untap_all();
  // Memory for the rings of taps. The stopped thread maps it.
  Result<std::shared_ptr<TapRings>> make_rings(Tid stopped) { return ours_.make_rings(stopped); }
  // Slots, pads and the net, with the program's own address for threads in them.
  OurCode our_code() const { return {memory(), ours_.net(), ours_.slots(), sites_}; }
  // A `ret` for a thread at the entry of a function: used as instruction pointer, with no other change. Unlike the
  // return address itself it is safe with an unhandled trap.
  RemoteAddr ret() const { return has_net() ? ours_.net()->ret() : RemoteAddr{}; }
  // Compares the pages that have or had sites with the files that are mapped there.
  Result<TextCheck> differing() const { return check_text(ours_.pid(), memory(), sites_, proc()); }

 private:
  AddressSpace(const AddressSpace& parent, Pid child) : ours_(parent.ours_, child), sites_(parent.sites_) {}
  void put_back_lifted(Tid stopped);
  void arm_missing(Tid stopped);
  void put_back_all(bool guards, Tid stopped);

  OurMemory ours_;
  SiteTable sites_;
};

}  // namespace fade
