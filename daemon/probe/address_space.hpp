// The breakpoint sites of one address space, and the slots of their instructions. Shared by processes that share memory
// (vfork, CLONE_VM); copied by fork; replaced by exec. Tracing thread only.
//
// An armed site is never lifted to step over it: a thread that hit it continues in the site's slot.
#pragma once
#include <signal.h>

#include <array>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "probe/our_code.hpp"
#include "probe/relocate.hpp"
#include "probe/safety_net.hpp"
#include "probe/site_table.hpp"
#include "probe/site_text.hpp"
#include "probe/slot_areas.hpp"
#include "probe/text_check.hpp"

namespace fade {

// Replaces a stopped thread if the process's memory can be written without one. Then no room for slots can be made,
// because this takes a system call of the process itself. Never pass a thread that may have an unhandled stop: the call
// would remove its signal.
inline constexpr pid_t kNobody = 0;

class AddressSpace {
 public:
  // `proc`: the folder that shows the process. `caller` must outlive this.
  AddressSpace(const SystemCaller& caller, pid_t pid, ProcFiles proc = ProcFiles())
      : pid_(pid), caller_(caller), proc_(std::move(proc)), memory_(pid, proc_) {}
  // The same sites in the memory copy of a fork.
  std::shared_ptr<AddressSpace> fork_copy(pid_t child) const;

  // A copy of memory from before the net was installed has neither net nor sites.
  void forget_missing_net();
  // Repairs differences between parent and child of a fork. Between the fork and its event, sites may have been armed
  // in the parent only, or put back there only: does the same in the child. Call at the child's first stop, when the
  // net is its SIGTRAP handler.
  void mend_copy(pid_t stopped);

  const ProcessMemory& memory() const { return memory_; }
  const ProcFiles& proc() const { return proc_; }
  bool has_net() const { return net_.has_value(); }
  // Call before the first arm(). Once per address space.
  Result<void> install_net(pid_t stopped, RemoteGadgets bootstrap, RemoteRange near);

  // Takes over the remains of an earlier fade in the process, or in the parent it was forked from. Net, slot areas and
  // sites then belong to this fade. Every original byte is put back (arm() sets the wanted sites again), and the
  // SIGTRAP handler is the net's again. nullopt: no remains. Call instead of install_net().
  struct Leftovers {
    std::size_t sites = 0;     // now known, and lifted
    std::size_t put_back = 0;  // sites that still had an int3
    std::size_t foreign = 0;   // sites whose text has changed: left unchanged, the net handles them
  };
  Result<std::optional<Leftovers>> take_over(pid_t stopped);

  // Gives the program's SIGTRAP action back to the kernel; the net stays. The text must have been put back, and no
  // thread may have an unhandled trap of fade. `outside`: as below.
  Result<void> give_signal_back(pid_t stopped, RemoteGadgets outside);
  // Removes the net and all slots from the process, and gives the program's SIGTRAP action back to the kernel.
  // Afterwards this is an AddressSpace without net and sites. Call only after put_back(). No thread of any process that
  // shares this memory may be in our_code(), have a frame there, or have an unhandled trap. `outside`: gadgets outside
  // the net, with a sigreturn that may stay the restorer of the program's action.
  Result<void> remove(pid_t stopped, RemoteGadgets outside);

  // The SIGTRAP action that the program has set; the kernel's action is the net's. In libc's form: the restorer does
  // not count.
  KernelSigaction program_trap_action() const { return net_ ? net_->program_action(memory_) : KernelSigaction{}; }
  // The last known action: for use after an exec.
  KernelSigaction last_trap_action() const { return net_ ? net_->last_program_action() : KernelSigaction{}; }
  bool has_program_trap_action() const { return program_trap_action().handler != 0; }  // SIG_DFL
  bool set_program_trap_action(KernelSigaction action, pid_t stopped);
  // The address of libc's rt_sigreturn. Until it is set, a program's handler of SIGTRAP returns into the net, which
  // then must stay.
  bool set_restorer(RemoteAddr sigreturn, pid_t stopped) {
    return net_ && net_->set_restorer(memory_, stopped, sigreturn);
  }
  Result<void> retake_signal(pid_t stopped);
  // Makes the stopped thread send a signal to its process, or to its thread `tid` if that is not 0. `info` names the
  // sender: only a process itself may name another sender. Refused if the process has other ids in its PID namespace.
  Result<void> send_signal(pid_t stopped, pid_t tid, const siginfo_t& info);

  // The site of the int3 at `address`, in the text or in the site's pad.
  Site* find(RemoteAddr address) { return sites_.find(address); }
  // The armed site at `address`: an existing or a new one. `stopped` is any stopped thread, or kNobody; the thread may
  // run an mmap if no slot is within reach. Pointers stay valid until forget(). A guard is only for the beginning of a
  // function: its site may be behind the first instruction, and registers that are free there are lost.
  Result<Site*> arm(RemoteAddr address, pid_t stopped, Guard guard = Guard::None);
  // Tells the net whether libc's guards are armed. They are armed before this call, and put back after it.
  bool set_guarded(bool guarded, pid_t stopped);
  // The place of Guard::Clone in libc's syscall(2), which begins at `function`: the check of the result. nullopt: the
  // function has another shape, or already has a jump there.
  std::optional<RemoteAddr> behind_system_call(RemoteAddr function) const;
  // As arm(), for a place that calls return to. There may be many such places, so the last kKeptForEntries of the net's
  // table are kept for functions. The Error has code ENOSPC if there is no room.
  Result<Site*> arm_return(RemoteAddr address, pid_t stopped);
  static constexpr std::uint64_t kKeptForEntries = 2048;
  // True if three quarters of the places for returns are taken.
  bool returns_are_scarce() const;
  // Puts the original byte back at up to `most` of the return places, except at those in `open`: the places armed
  // longest ago first. The sites stay known, for threads that have just hit them, and arm() sets them again. Needs
  // memory that can be written without a stopped thread. Returns their number.
  std::size_t rest_returns(const std::unordered_set<RemoteAddr>& open, std::size_t most);
  // Forgets return places that were lifted before `before` (CLOCK_BOOTTIME), not armed since, and not hit by any
  // thread. Their slots are not reused. Returns their number.
  std::size_t forget_rested(std::int64_t before);
  // The entry of a function. In the `untouched` bytes from there no thread can be, nothing else begins, and no branch
  // leads into them. A jump may be put behind the first instruction if the next instructions allow it.
  struct FunctionEntry {
    RemoteAddr function;
    std::uint64_t untouched = 0;
    std::vector<std::uint8_t> code;  // the bytes there
    std::size_t stack_words = 0;     // of the function's arguments

    static FunctionEntry read(const Memory& memory, RemoteAddr function, std::uint64_t untouched);
  };
  // Makes sites for all entries, in few writes, in the same order. arm() of the same function returns the same site.
  std::vector<Result<Site*>> arm_entries(std::span<const FunctionEntry> entries, pid_t stopped);
  // Addresses that no branch may lead to if the entry is to have a jump: the overwritten instructions except the first.
  // Empty if there are none, or if the entry gets no jump anyway.
  std::vector<RemoteAddr> under_jump(const FunctionEntry& entry) const;
  // Reserves slots so that later sites in `range`, of two HIP libraries at least, need no remote call. For use before
  // the program forbids itself mmap, or if no thread will be stopped.
  Result<void> reserve(RemoteRange range, pid_t stopped);
  // The memory is gone (dlclose): nothing is written back. Returns the number of sites.
  std::size_t forget(RemoteRange range, pid_t stopped);
  // Puts every original byte back. Slots stay mapped, and the sites stay known, for threads in or just before them.
  void put_back(pid_t stopped);
  bool is_put_back() const { return is_put_back_; }  // no site is armed any longer
  std::size_t armed() const { return sites_.armed(); }

  // Slots, pads and the net, with the program's own address for threads in them.
  OurCode our_code() const { return {memory_, net_ ? &*net_ : nullptr, slots_, sites_}; }
  // A `ret` for a thread at the entry of a function: used as instruction pointer, with no other change. Unlike the
  // return address itself it is safe with an unhandled trap.
  RemoteAddr ret() const { return net_ ? net_->ret() : RemoteAddr{}; }
  // Compares the pages that have or had sites with the files that are mapped there.
  Result<TextCheck> differing() const { return check_text(pid_, memory_, sites_, proc_); }

  // vanished_sites.cpp
  // The bytes at a breakpoint that the program has removed. Original: the program's own instruction. Other: other code,
  // in which a breakpoint has no place. Nothing: unreadable memory.
  enum class Instead : std::uint8_t { Original, Other, Nothing };
  struct VanishedSite {
    RemoteAddr address;
    Instead instead = Instead::Original;
    Guard guard = Guard::None;
  };
  // The armed sites without a breakpoint in memory, libc's guards first. Reads only, a page in one piece; needs no
  // stopped thread. Empty if the process has executed another program.
  std::vector<VanishedSite> vanished() const;
  // Sets a breakpoint again if its original bytes are there. The Error gives the reason for giving the site up.
  // `stopped`: a thread, or kNobody.
  enum class Repair : std::uint8_t { Done, NotNeeded };
  Result<Repair> repair(RemoteAddr address, pid_t stopped);
  // Gives a site up whose bytes are neither its breakpoint nor its original: no later write goes there.
  void drop(RemoteAddr address, pid_t stopped);

 private:
  AddressSpace(const AddressSpace& parent, pid_t child);
  SiteText text() const { return {memory_, *net_}; }  // only with a net; sites exist only with one
  void forget_all();
  Result<RemoteAddr> slot_for(Way way, RemoteAddr site, pid_t stopped);
  bool rewrite_table(pid_t stopped);
  Result<void> may_arm(RemoteAddr address) const;
  Result<void> make_room(pid_t stopped);
  Result<Site> make_site(RemoteAddr address, Guard guard, pid_t stopped);
  Result<Site> make_trap(RemoteAddr address, Guard guard, pid_t stopped);
  Result<Site> make_jump(RemoteAddr address, Guard guard, pid_t stopped);
  Result<Site> make(RemoteAddr address, RemoteAddr slot, Guard guard, pid_t stopped);
  bool set_again(Site& site, pid_t stopped);
  void put_back_all(bool guards, pid_t stopped);
  RemoteAddr guarded_address(RemoteAddr function) const;
  bool can_jump(RemoteAddr address, Guard guard) const;
  Result<void> add_area(RemoteRange near, pid_t stopped);
  Result<void> check_seccomp(pid_t stopped) const;

  // return_sites.cpp
  bool make_room_for_return(pid_t stopped);

  // entry_sites.cpp
  struct Plan;
  std::optional<RemoteAddr> place_of_jump(const FunctionEntry& entry) const;
  void arm_some(std::span<const FunctionEntry> entries, std::span<Result<Site*>> out, pid_t stopped);
  Result<Plan> plan_entry(const FunctionEntry& entry, pid_t stopped);
  bool write_slots(std::span<const Plan> plans, pid_t stopped) const;
  bool write_entries(std::span<const Plan> plans, pid_t stopped);

  // vanished_sites.cpp
  using SiteIterator = std::vector<const Site*>::const_iterator;
  SiteIterator look_at_some(SiteIterator first, SiteIterator end, std::span<std::byte> buffer,
                            std::vector<VanishedSite>& out) const;
  std::optional<Instead> instead_of(const Site& site) const;
  void give_up(Site& site, pid_t stopped);

  // address_space_ends.cpp
  bool adopt_areas(const std::vector<RemoteRange>& ranges, const std::vector<SafetyNet::Entry>& entries);
  void adopt(const SafetyNet::Entry& entry, Leftovers& leftovers, pid_t stopped);

  pid_t pid_;
  const SystemCaller& caller_;
  ProcFiles proc_;
  ProcessMemory memory_;
  std::optional<SafetyNet> net_;
  SlotAreas slots_;
  SiteTable sites_;
  std::vector<SafetyNet::Entry> foreign_;  // left over from an earlier fade, and not to be touched
  std::string seccomp_at_start_;
  bool is_guarded_ = false;
  bool is_put_back_ = false;
  bool is_copied_ = false;  // the program overwrote a jump and may have copied it: its pad must stay
};

}  // namespace fade
