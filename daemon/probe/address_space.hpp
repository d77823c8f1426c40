// The breakpoint sites of one address space and where their instructions went. Shared by processes that share memory
// (vfork, CLONE_VM); copied by fork; replaced by exec. Tracing thread only.
//
// A site, once armed, is never lifted to step over it: a thread that hit goes on in the site's slot.
#pragma once
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "probe/relocate.hpp"
#include "probe/safety_net.hpp"

namespace fade {

struct Site {
  RemoteAddr address;
  RemoteAddr slot;
  std::uint8_t original = 0;  // the byte under the int3
  std::uint8_t length = 0;    // of the instruction that went into the slot
  std::int64_t armed_at = 0;    // CLOCK_BOOTTIME
  // What the session attached; 0: nothing of that kind.
  std::uint32_t entry = 0;      // index of what begins here
  std::uint32_t call_site = 0;  // calls return to here

  // Only behind a one-byte instruction does a thread ever stand one byte past the site without having hit it.
  bool needs_proof() const { return length == 1; }
};

class AddressSpace {
 public:
  AddressSpace(const Tracer& tracer, pid_t pid) : tracer_(tracer), memory_(pid) {}
  // The same sites in the copy of memory that a fork made.
  std::shared_ptr<AddressSpace> fork_copy(pid_t child) const;

  // Between a fork and the event that tells of it, sites may have been armed in the parent that the child's memory has
  // not got: arms them there too. At the child's first stop.
  void mend_copy(pid_t stopped);

  const ProcessMemory& memory() const { return memory_; }
  bool has_net() const { return net_.has_value(); }
  // Before the first arm(). Once per address space.
  Result<void> install_net(pid_t stopped, RemoteGadgets bootstrap, RemoteRange near);

  // What the program believes its SIGTRAP action to be; the kernel's is the net's.
  KernelSigaction program_trap_action() const { return net_ ? net_->program_action() : KernelSigaction{}; }
  bool set_program_trap_action(const KernelSigaction& action, pid_t stopped) {
    return net_ && net_->set_program_action(memory_, stopped, action);
  }
  Result<void> retake_signal(pid_t stopped);

  Site* find(RemoteAddr address) {
    const auto it = sites_.find(address);
    return it == sites_.end() ? nullptr : &it->second;
  }
  // The armed site at `address`: an existing one, or a new one. `stopped` is any stopped thread; it may be made to run
  // an mmap where no slot is within reach. Pointers stay valid until forget().
  Result<Site*> arm(RemoteAddr address, pid_t stopped);
  // Makes sure that later sites in `range` find a slot without a remote call: before the program forbids itself mmap.
  Result<void> reserve(RemoteRange range, pid_t stopped);
  // The memory is gone (dlclose): nothing is written back. Returns how many sites that were.
  std::size_t forget(RemoteRange range, pid_t stopped);
  // Puts every original byte back. Slots stay mapped, and the sites known, for threads that stand in or just before
  // them.
  void put_back(pid_t stopped);
  // The site whose slot begins at `slot`; nullptr: none. Walks through all sites.
  const Site* site_of_slot(RemoteAddr slot) const;
  std::size_t armed() const { return sites_.size(); }

 private:
  AddressSpace(const AddressSpace& parent, pid_t child);
  Result<RemoteAddr> free_slot(RemoteAddr site, pid_t stopped);
  bool rewrite_table(pid_t stopped);
  Result<Site> make(RemoteAddr address, RemoteAddr slot, pid_t stopped);
  Result<void> add_area(RemoteRange near, pid_t stopped);
  Result<void> check_seccomp(pid_t stopped) const;

  const Tracer& tracer_;
  ProcessMemory memory_;
  std::optional<SafetyNet> net_;
  std::vector<SlotArea> areas_;
  std::unordered_map<RemoteAddr, Site> sites_;
  std::vector<RemoteAddr> free_slots_;  // of sites that are gone
  std::string seccomp_at_start_;
  bool is_put_back_ = false;
};

}  // namespace fade
