// Makes system calls in stopped threads of other processes. The Tracer does it by ptrace(2); a test may bring its own.
#pragma once
#include <array>
#include <cstdint>
#include <optional>

#include "base/pid.hpp"
#include "base/remote.hpp"

namespace fade {

class ProcessMemory;

// Code in the tracee for remote calls.
struct RemoteGadgets {
  RemoteAddr syscall_ret;  // syscall; ret
  RemoteAddr sigreturn;    // mov $15, %eax; syscall. None: the thread is at the first instruction of a new program,
                           // where only the stack pointer matters
};

class SystemCaller {
 public:
  virtual ~SystemCaller() = default;
  // The kernel's result, which may be a negative errno; nullopt: the thread could not be used. `stopped` and the rules
  // are those of RemoteCall.
  virtual std::optional<long> call(const ProcessMemory& memory, Tid stopped, RemoteGadgets gadgets, long number,
                                   std::array<std::uint64_t, 6> arguments) const = 0;
};

}  // namespace fade
