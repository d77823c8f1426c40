// The breakpoint sites of one address space and where their instructions went. Shared by processes that share memory
// (vfork, CLONE_VM); copied by fork; replaced by exec. Tracing thread only.
//
// A site, once armed, is never lifted to step over it: a thread that hit goes on in the site's slot.
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

// In place of a stopped thread, where the process' memory can be written without one: no slots can be made room for then, which
// takes a system call of the process itself. Never a thread that may be at a stop which has yet to be handled: the call would take its signal away.
inline constexpr pid_t kNobody = 0;

class AddressSpace {
 public:
  AddressSpace(const Tracer& tracer, pid_t pid) : pid_(pid), tracer_(tracer), memory_(pid) {}
  // The same sites in the copy of memory that a fork made.
  std::shared_ptr<AddressSpace> fork_copy(pid_t child) const;

  // A copy of memory from before there was a net is without one, and without sites.
  void forget_missing_net();
  // Between a fork and the event that tells of it, sites may have been armed in the parent that the child's memory has
  // not got: arms them there too. And the other way round, where they were put back. At the child's first stop, when
  // the net is its SIGTRAP handler.
  void mend_copy(pid_t stopped);

  const ProcessMemory& memory() const { return memory_; }
  bool has_net() const { return net_.has_value(); }
  // Before the first arm(). Once per address space.
  Result<void> install_net(pid_t stopped, RemoteGadgets bootstrap, RemoteRange near);

  // What an earlier fade left in the process, in the parent that it was forked from included: net, slot areas and sites
  // are ours from now on, every original byte is put back (arm() sets what is wanted again), the SIGTRAP handler is the
  // net's again. nullopt: there is nothing. Instead of install_net().
  struct Leftovers {
    std::size_t sites = 0;     // known from now on, lifted
    std::size_t put_back = 0;  // of these, an int3 still stood there
    std::size_t foreign = 0;   // sites whose text is no longer what it was: left as they are, the net looks after them
  };
  Result<std::optional<Leftovers>> take_over(pid_t stopped);

  // The program's SIGTRAP action is the kernel's again; the net stays. Text must have been put back, and no thread may have
  // a trap of ours under way. `outside`: as below.
  Result<void> give_signal_back(pid_t stopped, RemoteGadgets outside);
  // Takes the net and all slots out of the process, and the program's SIGTRAP action is the kernel's again. Afterwards this
  // is an AddressSpace without net and sites. Only after put_back(), with no thread of any process that shares this
  // memory in our_code() or with a frame there, and none with a trap under way. `outside`: gadgets that
  // are not the net's, with a sigreturn that may stay the restorer of the program's action.
  Result<void> remove(pid_t stopped, RemoteGadgets outside);

  // What the program believes its SIGTRAP action to be; the kernel's is the net's. Given as libc has it: the restorer does
  // not count.
  KernelSigaction program_trap_action() const { return net_ ? net_->program_action(memory_) : KernelSigaction{}; }
  // As it was told last: after an exec.
  KernelSigaction last_trap_action() const { return net_ ? net_->last_program_action() : KernelSigaction{}; }
  bool has_program_trap_action() const { return program_trap_action().handler != 0; }  // SIG_DFL
  bool set_program_trap_action(KernelSigaction action, pid_t stopped);
  // Where libc makes its rt_sigreturn. Until it is told, a handler of the program that runs on a SIGTRAP returns into
  // the net, which then must stay.
  bool set_restorer(RemoteAddr sigreturn, pid_t stopped) { return net_ && net_->set_restorer(memory_, stopped, sigreturn); }
  Result<void> retake_signal(pid_t stopped);
  // The stopped thread sends a signal to its process, or to its thread `tid` if that is not 0, as if `info` told of another sender:
  // only a process itself may do that. Not where the process has other numbers than we know it by.
  Result<void> send_signal(pid_t stopped, pid_t tid, const siginfo_t& info);

  // The site whose int3 stands there, in the text or in the site's pad.
  Site* find(RemoteAddr address) { return sites_.find(address); }
  // The armed site at `address`: an existing one, or a new one. `stopped` is any stopped thread, or kNobody; it may be made to run
  // an mmap where no slot is within reach. Pointers stay valid until forget(). A guard only where a function begins: its
  // site may be behind the first instruction, and registers that are free there are lost.
  Result<Site*> arm(RemoteAddr address, pid_t stopped, Guard guard = Guard::None);
  // Guards of libc stand from now on, or stand no longer. They are armed before, and are put back after it is told.
  bool set_guarded(bool guarded, pid_t stopped);
  // The place of Guard::Clone: libc's syscall(2), which begins at `function`, looks at the result there. nullopt: it
  // has another shape, or a jump stands there already.
  std::optional<RemoteAddr> behind_system_call(RemoteAddr function) const;
  // As arm(), where calls return to. There may be many such places: the last kKeptForEntries of the net's table are
  // kept for functions. Fails with ENOSPC where there is no room.
  Result<Site*> arm_return(RemoteAddr address, pid_t stopped);
  static constexpr std::uint64_t kKeptForEntries = 2048;
  // Three quarters of the places for returns are taken.
  bool returns_are_scarce() const;
  // Puts the original byte back at up to `most` of the places that calls return to, those armed longest ago first,
  // but not at those in `open`. They stay known, for threads that have just hit them, and arm() sets them again. Only
  // where memory is written without a stopped thread. Returns how many.
  std::size_t rest_returns(const std::unordered_set<RemoteAddr>& open, std::size_t most);
  // Forgets those that were lifted before `before` (CLOCK_BOOTTIME) and not armed since, and which no thread can have
  // hit any more. Their slots are not given again. Returns how many.
  std::size_t forget_rested(std::int64_t before);
  // The entry of a function. In the `untouched` bytes from there no thread can stand, nothing else begins, and no branch leads: there a
  // jump may stand behind its first instruction, where those behind it allow one.
  struct FunctionEntry {
    RemoteAddr function;
    std::uint64_t untouched = 0;
    std::vector<std::uint8_t> code;  // what stands there
    std::size_t stack_words = 0;     // of its arguments

    static FunctionEntry read(const Memory& memory, RemoteAddr function, std::uint64_t untouched);
  };
  // Sites for all of them, in few writes; arm() of the same function gives that site. In the same order.
  std::vector<Result<Site*>> arm_entries(std::span<const FunctionEntry> entries, pid_t stopped);
  // Where no branch may lead if it is to have a jump: the instructions which that would be written over, its own place excepted. Empty
  // where there are none, or it would have no jump anyway.
  std::vector<RemoteAddr> under_jump(const FunctionEntry& entry) const;
  // Makes sure that later sites in `range`, those of two libraries of HIP at least, find a slot without a remote call: before the program
  // forbids itself mmap, or where nobody will be stopped.
  Result<void> reserve(RemoteRange range, pid_t stopped);
  // The memory is gone (dlclose): nothing is written back. Returns how many sites that were.
  std::size_t forget(RemoteRange range, pid_t stopped);
  // Puts every original byte back. Slots stay mapped, and the sites known, for threads that stand in or just before
  // them.
  void put_back(pid_t stopped);
  bool is_put_back() const { return is_put_back_; }  // nothing is armed any more
  std::size_t armed() const { return sites_.armed(); }

  // Slots, pads and the net, and where threads in them would be without us.
  OurCode our_code() const { return {memory_, net_ ? &*net_ : nullptr, slots_, sites_}; }
  // Where a thread returns from a function as it stands at its entry: to be used as instruction pointer, with nothing
  // else changed. Unlike the return address itself it is safe with a trap under way.
  RemoteAddr ret() const { return net_ ? net_->ret() : RemoteAddr{}; }
  // Compares the pages that have or had sites with the files that are mapped there.
  Result<TextCheck> differing() const { return check_text(pid_, memory_, sites_); }

  // vanished_sites.cpp
  // The bytes in the place of a breakpoint that the program has taken out. Original: its own instruction. Other: other code, in
  // which a breakpoint has no place. Nothing: no memory can be read there.
  enum class Instead : std::uint8_t { Original, Other, Nothing };
  struct VanishedSite {
    RemoteAddr address;
    Instead instead = Instead::Original;
    Guard guard = Guard::None;
  };
  // The armed sites where no breakpoint stands, libc's guards first. Reads only, a page in one piece; needs no stopped
  // thread. Empty where the process has executed another program.
  std::vector<VanishedSite> vanished() const;
  // Sets a breakpoint again whose original bytes stand there. An error says why the site was given up. `stopped`: a
  // thread, or kNobody.
  enum class Repair : std::uint8_t { Done, NotNeeded };
  Result<Repair> repair(RemoteAddr address, pid_t stopped);
  // Gives a site up where something else stands: nothing is written there any more.
  void drop(RemoteAddr address, pid_t stopped);

 private:
  AddressSpace(const AddressSpace& parent, pid_t child);
  SiteText text() const { return {memory_, *net_}; }  // only with a net; sites are there only with one
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
  SiteIterator look_at_some(SiteIterator first, SiteIterator end, std::span<std::byte> buffer, std::vector<VanishedSite>& out) const;
  std::optional<Instead> instead_of(const Site& site) const;
  void give_up(Site& site, pid_t stopped);

  // address_space_ends.cpp
  bool adopt_areas(const std::vector<RemoteRange>& ranges, const std::vector<SafetyNet::Entry>& entries);
  void adopt(const SafetyNet::Entry& entry, Leftovers& leftovers, pid_t stopped);

  pid_t pid_;
  const Tracer& tracer_;
  ProcessMemory memory_;
  std::optional<SafetyNet> net_;
  SlotAreas slots_;
  SiteTable sites_;
  std::vector<SafetyNet::Entry> foreign_;  // left over, and not ours to touch
  std::string seccomp_at_start_;
  bool is_guarded_ = false;
  bool is_put_back_ = false;
  bool is_copied_ = false;  // a program that wrote over a jump of ours may have copied it: its pad must stay
};

}  // namespace fade
