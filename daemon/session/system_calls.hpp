// The names of the system calls in which threads wait, and the device or file behind their descriptor if known.
#pragma once
#include <string>

#include "base/pid.hpp"
#include "base/remote.hpp"
#include "proc/proc_files.hpp"
#include "ptrace/registers.hpp"

namespace fade {

// The activity of a stopped 64-bit thread: "running", "futex", "ioctl on /dev/kfd", "system call 451".
std::string what_it_does(Tid tid, const Registers& registers, const ProcFiles& proc = ProcFiles());
// The same for a thread that does not stop (proc_pid_syscall(5)), or empty if unknown.
std::string what_it_does_unstopped(Tid tid, const ProcFiles& proc = ProcFiles());

// The signals that a thread sleeps for in rt_sigtimedwait(2), as bits, number 1 the lowest; 0: it does not. `memory`:
// of its process.
std::uint64_t signals_awaited(Tid tid, const Memory& memory, const ProcFiles& proc = ProcFiles());

// The thread is in a system call that sends SIGKILL to its own process `pid`.
bool kills_itself(Pid pid, const Registers& registers);

}  // namespace fade
