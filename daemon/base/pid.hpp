// The kernel's numbers of processes and threads, in fade's PID namespace. They do not mix, though the first thread of a
// process has the number of the process. A number in another PID namespace stays a pid_t. A recording has numbers of
// its own: ProcessId and ThreadId (base/event.hpp).
//
// Calls with `...`, as syscall(2) and ptrace(2), take any type without a warning: pass them `.value()`.
#pragma once
#include <fmt/core.h>
#include <sys/types.h>
#include <unistd.h>

#include "base/id.hpp"

namespace fade {

using Pid = Id<struct PidTag, pid_t>;  // of a process, as of getpid(2): its thread group id
using Tid = Id<struct TidTag, pid_t>;  // of a thread, as of gettid(2)

// The first thread of the process. It may have ended while other threads of the process run.
constexpr Tid leader_of(Pid process) { return Tid::of(process.value()); }
// The process of a thread that is known to be a leader.
constexpr Pid process_of_leader(Tid leader) { return Pid::of(leader.value()); }

inline Pid own_pid() { return Pid::of(::getpid()); }

// A thread, named by its own number or by the number of the process that it leads. /proc and the calls that read
// another process's memory take both: /proc/TID has the same files as /proc/PID.
class TaskId {
 public:
  constexpr TaskId(Pid process) : value_(process.value()) {}  // NOLINT(google-explicit-constructor)
  constexpr TaskId(Tid thread) : value_(thread.value()) {}    // NOLINT(google-explicit-constructor)
  constexpr pid_t value() const { return value_; }
  constexpr Tid thread() const { return Tid::of(value_); }

 private:
  pid_t value_;
};

}  // namespace fade

template <>
struct fmt::formatter<fade::Pid> : fmt::formatter<pid_t> {
  template <class Context>
  auto format(fade::Pid pid, Context& context) const {
    return fmt::formatter<pid_t>::format(pid.value(), context);
  }
};
template <>
struct fmt::formatter<fade::Tid> : fmt::formatter<pid_t> {
  template <class Context>
  auto format(fade::Tid tid, Context& context) const {
    return fmt::formatter<pid_t>::format(tid.value(), context);
  }
};
