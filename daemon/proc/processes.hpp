// Facts about processes and threads that change while they run. Each call reads the fact again. If the process is gone,
// the fact is 0 or empty.
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/pid.hpp"
#include "proc/proc_files.hpp"

namespace fade {

std::string read_thread_name(Tid tid, const ProcFiles& proc = ProcFiles());
Pid read_thread_group(Tid tid, const ProcFiles& proc = ProcFiles());
Pid read_parent(TaskId task, const ProcFiles& proc = ProcFiles());
pid_t read_own_pid(Pid pid, const ProcFiles& proc = ProcFiles());  // in the process's own PID namespace
Tid read_tracer(Tid tid, const ProcFiles& proc = ProcFiles());     // 0: none
char read_state(Tid tid, const ProcFiles& proc = ProcFiles());     // of proc_pid_stat(5): R S D Z T t X I
std::vector<Tid> read_thread_ids(Pid pid, const ProcFiles& proc = ProcFiles());
// CPU time that all its threads have used so far, user and system.
std::optional<std::int64_t> read_cpu_ns(Pid pid, const ProcFiles& proc = ProcFiles());
bool read_is_64_bit(Pid pid, const ProcFiles& proc = ProcFiles());  // the program's file; true if it cannot be read
// Mode and number of seccomp filters. A container's filter exists from the start and allows the calls that fade needs.
// A filter that the program adds may kill for system calls.
std::string read_seccomp(Tid tid, const ProcFiles& proc = ProcFiles());

// The kernel keeps a second stack of the thread's return addresses, and compares both (x86 CET).
bool has_shadow_stack(Tid tid, const ProcFiles& proc = ProcFiles());

// Signals as bits, number 1 the lowest.
struct SignalSets {
  std::uint64_t pending = 0, blocked = 0, ignored = 0, caught = 0;  // pending: for the thread or the process
  std::uint64_t pending_alone = 0;                                  // for the thread

  bool has_caught(int signal) const { return (caught >> (signal - 1) & 1) != 0; }
};
SignalSets read_signal_sets(Tid tid, const ProcFiles& proc = ProcFiles());
// The process has a handler for it.
inline bool catches_signal(Pid pid, int signal, const ProcFiles& proc = ProcFiles()) {
  return read_signal_sets(leader_of(pid), proc).has_caught(signal);
}

}  // namespace fade
