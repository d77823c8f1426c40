#include "ptrace/stopped_threads.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include "ptrace/tracee.hpp"

namespace fade {

const StoppedThreads& StoppedThreads::traced() {
  static const StoppedThreads kTraced;
  return kTraced;
}

std::optional<Registers> StoppedThreads::registers(pid_t tid) const { return Tracee(tid).registers(); }
bool StoppedThreads::set_registers(pid_t tid, const Registers& registers) const {
  return Tracee(tid).set_registers(registers);
}
std::optional<siginfo_t> StoppedThreads::siginfo(pid_t tid) const { return Tracee(tid).siginfo(); }
std::optional<std::uint64_t> StoppedThreads::signal_mask(pid_t tid) const { return Tracee(tid).signal_mask(); }
bool StoppedThreads::set_signal_mask(pid_t tid, std::uint64_t mask) const { return Tracee(tid).set_signal_mask(mask); }

void StoppedThreads::queue(pid_t pid, pid_t tid, const siginfo_t& info) const {
  siginfo_t sent = info;
  if (tid == 0) ::syscall(SYS_rt_sigqueueinfo, pid, info.si_signo, &sent);
  else ::syscall(SYS_rt_tgsigqueueinfo, pid, tid, info.si_signo, &sent);
}

}  // namespace fade
