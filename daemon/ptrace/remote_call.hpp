// Runs system calls in a stopped thread. Self-completing: the thread gets a frame that restores all of it by itself (rt_sigreturn(2)), so
// that it goes on unharmed if the tracer dies in the middle. All signals are blocked meanwhile, where the frame gives the mask back; else
// they are sent again.
//
// Another thread may execute a program meanwhile, or end the process. The stopped thread then leaves the call: nothing of it is
// restored, because its pid may be that of the new program, and its next stop is left for Tracer::next().
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "ptrace/process_memory.hpp"
#include "ptrace/registers.hpp"
#include "ptrace/tracee.hpp"
#include "ptrace/tracer.hpp"

namespace fade {

// Code in the tracee that remote calls stand on.
struct RemoteGadgets {
  RemoteAddr syscall_ret;  // syscall; ret
  RemoteAddr sigreturn;    // mov $15, %eax; syscall. None: the thread is at the first instruction of a new program,
                           // where only the stack pointer matters
};

class RemoteCall {
 public:
  // `stopped` must be in a ptrace-stop outside of any system call, at the exit of one, or where a stop interrupted one.
  RemoteCall(const Tracer& tracer, const ProcessMemory& memory, pid_t stopped, RemoteGadgets gadgets)
      : tracer_(tracer), memory_(memory), tracee_(stopped), gadgets_(gadgets) {}

  // The kernel's result, a negative errno included. nullopt: the thread could not be used, and its registers are as before, or it has
  // left (has_left() in stop.hpp) or is about to. A thread whose own system call our stop interrupted must be interrupted once more
  // before it goes on: the kernel restarts the call only behind a stop of that kind.
  std::optional<long> syscall(long number, std::array<std::uint64_t, 6> arguments) const;

  // Below the red zone and the frame of any call made with these registers: room for data given to a call.
  static RemoteAddr scratch(const Registers& registers) { return {(registers.rsp - 32 * 1024) & ~std::uint64_t{63}}; }

 private:
  // What stood where the frame stands.
  struct Below {
    RemoteAddr at;
    std::vector<std::byte> bytes;
  };
  struct Ran {
    std::optional<long> result;
    bool has_left = false;  // the thread; see stop.hpp
  };
  std::optional<RemoteAddr> push_frame(const Registers& saved, std::uint64_t mask, Below& below) const;
  bool is_at_its_end() const;
  Ran run() const;
  Ran run_to_the_exit(std::vector<int>& met) const;

  const Tracer& tracer_;
  const ProcessMemory& memory_;
  Tracee tracee_;
  RemoteGadgets gadgets_;
};

}  // namespace fade
