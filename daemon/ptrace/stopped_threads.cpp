#include "ptrace/stopped_threads.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include "ptrace/tracee.hpp"

namespace fade {

const StoppedThreads& StoppedThreads::traced() {
  static const StoppedThreads kTraced;
  return kTraced;
}

std::optional<Registers> StoppedThreads::registers(Tid tid) const { return Tracee(tid).registers(); }
bool StoppedThreads::set_registers(Tid tid, const Registers& registers) const {
  return Tracee(tid).set_registers(registers);
}
std::optional<siginfo_t> StoppedThreads::siginfo(Tid tid) const { return Tracee(tid).siginfo(); }
std::optional<std::uint64_t> StoppedThreads::signal_mask(Tid tid) const { return Tracee(tid).signal_mask(); }
bool StoppedThreads::set_signal_mask(Tid tid, std::uint64_t mask) const { return Tracee(tid).set_signal_mask(mask); }

void StoppedThreads::queue(Pid pid, Tid tid, const siginfo_t& info) const {
  siginfo_t sent = info;
  if (tid == 0) ::syscall(SYS_rt_sigqueueinfo, pid.value(), info.si_signo, &sent);
  else ::syscall(SYS_rt_tgsigqueueinfo, pid.value(), tid.value(), info.si_signo, &sent);
}

}  // namespace fade
