// System calls that our stop interrupted (signal(7), "Interruption of system calls and library functions by stop
// signals"; arch/x86/kernel/signal.c). Pure.
#pragma once
#include <optional>

#include "ptrace/registers.hpp"

namespace fade {

// The kernel would begin the call again when the thread goes on: registers that do the same from user mode. nullopt:
// no system call is waiting for that.
std::optional<Registers> begun_again(const Registers& stopped);

// A call that returns EINTR after any stop, even one that no handler saw (epoll_wait, semop, recv with a time limit, ...):
// registers that call it once more, with its whole timeout. nullopt: it is none of these. Only right while no signal
// waits for the thread.
std::optional<Registers> called_once_more(const Registers& stopped);

// The kernel would go on with the call, in the time that is left of it, by restart_syscall(2), which a seccomp filter may
// forbid.
bool wants_restart_syscall(const Registers& stopped);

}  // namespace fade
