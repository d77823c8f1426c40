// System calls that a stop by fade interrupted (signal(7), "Interruption of system calls and library functions by stop
// signals"; arch/x86/kernel/signal.c). Pure.
#pragma once
#include <optional>

#include "ptrace/registers.hpp"

namespace fade {

// Registers that repeat the call from user mode, if the kernel would restart the call when the thread continues.
// nullopt: no system call waits for a restart.
std::optional<Registers> begun_again(const Registers& stopped);

// Registers that repeat a call with its whole timeout. These calls return EINTR after any stop, even without a handler
// (epoll_wait, semop, recv with a time limit, ...). nullopt: another call. Valid only while no signal waits for the
// thread.
std::optional<Registers> called_once_more(const Registers& stopped);

// True if the kernel would continue the call for its remaining time by restart_syscall(2), which a seccomp filter may
// forbid.
bool wants_restart_syscall(const Registers& stopped);

}  // namespace fade
