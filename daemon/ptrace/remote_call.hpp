// Runs system calls in a stopped thread. Self-completing: the thread gets a frame that restores its whole state by
// itself (rt_sigreturn(2)). So it continues undisturbed if the tracer dies in the middle. If the frame restores the
// mask, all signals are blocked meanwhile; else signals are sent again.
//
// Meanwhile another thread may execute a program or end the process. The stopped thread then leaves the call. Nothing
// of it is restored, because its pid may belong to the new program. Its next stop is left for Tracer::next().
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

// Code in the tracee for remote calls.
struct RemoteGadgets {
  RemoteAddr syscall_ret;  // syscall; ret
  RemoteAddr sigreturn;    // mov $15, %eax; syscall. None: the thread is at the first instruction of a new program,
                           // where only the stack pointer matters
};

class RemoteCall {
 public:
  // `stopped` must be in a ptrace-stop outside of any system call, at the exit of a call, or at a stop that interrupted
  // a call.
  RemoteCall(const Tracer& tracer, const ProcessMemory& memory, pid_t stopped, RemoteGadgets gadgets)
      : tracer_(tracer), memory_(memory), tracee_(stopped), gadgets_(gadgets) {}

  // The kernel's result, which may be a negative errno. nullopt: the thread could not be used and its registers are
  // unchanged, or it has left (has_left() in stop.hpp) or is about to leave. If fade's stop interrupted a system call
  // of the thread, interrupt the thread once more before it continues. The kernel restarts the call only after such a
  // stop.
  std::optional<long> syscall(long number, std::array<std::uint64_t, 6> arguments) const;

  // An address below the red zone and below the frame of any call made with these registers: room for data of a call.
  static RemoteAddr scratch(const Registers& registers) { return {(registers.rsp - 32 * 1024) & ~std::uint64_t{63}}; }

 private:
  // The former content at the place of the frame.
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
