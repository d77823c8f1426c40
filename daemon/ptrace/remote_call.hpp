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

#include "base/pid.hpp"
#include "ptrace/process_memory.hpp"
#include "ptrace/registers.hpp"
#include "ptrace/system_caller.hpp"

namespace fade {

class RemoteCall {
 public:
  // `stopped` must be in a ptrace-stop outside of any system call, at the exit of a call, or at a stop that interrupted
  // a call.
  RemoteCall(const SystemCaller& caller, const ProcessMemory& memory, Tid stopped, RemoteGadgets gadgets)
      : caller_(caller), memory_(memory), stopped_(stopped), gadgets_(gadgets) {}

  // The kernel's result, which may be a negative errno. nullopt: the thread could not be used and its registers are
  // unchanged, or it has left (has_left() in stop.hpp) or is about to leave. If fade's stop interrupted a system call
  // of the thread, interrupt the thread once more before it continues. The kernel restarts the call only after such a
  // stop.
  std::optional<long> syscall(long number, std::array<std::uint64_t, 6> arguments) const {
    return caller_.call(memory_, stopped_, gadgets_, number, arguments);
  }

  // An address below the red zone and below the frame of any call made with these registers: room for data of a call.
  static RemoteAddr scratch(const Registers& registers) { return {(registers.rsp - 32 * 1024) & ~std::uint64_t{63}}; }

 private:
  const SystemCaller& caller_;
  const ProcessMemory& memory_;
  Tid stopped_;
  RemoteGadgets gadgets_;
};

}  // namespace fade
