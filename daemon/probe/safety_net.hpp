// The mapping that fade puts into every watched process before the first breakpoint: a SIGTRAP handler, a table site ->
// slot, room for slots, and the gadgets of remote calls (net_code.S). It keeps sites harmless after fade's end, and
// shows a later fade the changes to the process. A value: a fork copies the mapping, so it copies this object too.
#pragma once
#include <array>
#include <optional>
#include <span>
#include <vector>

#include "base/pid.hpp"
#include "base/result.hpp"
#include "elf/maps.hpp"
#include "probe/net_layout.hpp"
#include "probe/net_table.hpp"
#include "ptrace/remote_call.hpp"

namespace fade {

class SafetyNet {
 public:
  // Maps the net within reach of `near` and makes it the SIGTRAP handler. The thread must be able to make remote calls
  // with `bootstrap`.
  static Result<SafetyNet> install(const SystemCaller& caller, const ProcessMemory& memory, const ProcFiles& proc,
                                   Tid stopped, RemoteGadgets bootstrap, RemoteRange near);
  // The net of an earlier fade; nullopt: none. Its content is checked before use; a damaged net gives an Error.
  static Result<std::optional<SafetyNet>> find(const Memory& memory, const elf::Maps& maps);

  RemoteAddr handler() const { return handler_; }
  // Makes the handler the net's again after the kernel reset it (it does so when a trap meets a blocked SIGTRAP).
  // Returns the former action.
  Result<KernelSigaction> take_signal(const RemoteCall& call, const Memory& memory) const;
  // Gives the program's action to the kernel, if the kernel's action still is the net's. `restorer` serves an action
  // that has none.
  Result<void> give_signal_back(const RemoteCall& call, const ProcessMemory& memory, Tid stopped,
                                RemoteAddr restorer) const;
  // The SIGTRAP action that the program has set: foreign traps go there. Its restorer counts only with SA_RESTORER
  // among its flags.
  KernelSigaction program_action(const Memory& memory) const;
  // The last known action: for use when an exec has removed the memory.
  const KernelSigaction& last_program_action() const { return program_action_; }
  bool set_program_action(const ProcessMemory& memory, Tid stopped, const KernelSigaction& action);
  // Code outside the net that makes an rt_sigreturn: the program's handler, called by the net's, returns there.
  bool set_restorer(const ProcessMemory& memory, Tid stopped, RemoteAddr restorer) const;

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
  bool set_guarded(const ProcessMemory& memory, Tid stopped, bool guarded);
  bool is_guarded() const { return is_guarded_; }  // as set last
  SlotArea slots() const;

  // Sites and their slots, for the handler.
  NetTable& table() { return table_; }
  const NetTable& table() const { return table_; }

  // Adds another area with slots for the handler.
  bool add_range(const ProcessMemory& memory, Tid stopped, RemoteRange range);
  // The areas added so far, read from the process, without the net's own area.
  Result<std::vector<RemoteRange>> ranges(const Memory& memory, const elf::Maps& maps) const;
  // Removes the last area; no thread may be in it.
  bool drop_range(const ProcessMemory& memory, Tid stopped);
  // For the copy of memory of a fork during these steps: `areas` are the areas that exist there.
  bool mend_ranges(const ProcessMemory& memory, Tid stopped, std::span<const SlotArea> areas);

 private:
  explicit SafetyNet(RemoteAddr base);
  bool write_image(const ProcessMemory& memory, Tid stopped) const;
  Result<KernelSigaction> become_handler(const RemoteCall& call, const Memory& memory, std::uint64_t old_at) const;
  static Result<SafetyNet> adopt(const Memory& memory, const elf::Maps& maps, const elf::Mapping& rest);
  bool read_code(const Memory& memory);
  bool count(const Memory& memory, const elf::Maps& maps);

  RemoteAddr base_;
  RemoteAddr handler_, sigreturn_, syscall_ret_;
  std::array<RemoteAddr, kGuards> guards_;
  NetTable table_;
  KernelSigaction program_action_;
  std::uint64_t ranges_ = 0;
  bool is_guarded_ = false;
};

// Maps `size` bytes, readable and executable, within +-2 GiB of all of `near`.
Result<RemoteRange> map_near(const RemoteCall& call, TaskId task, const ProcFiles& proc, RemoteRange near,
                             std::uint64_t size);

}  // namespace fade
