#include "session/system_calls.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <sys/syscall.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <sstream>

namespace fade {
namespace {

struct Named {
  long number;
  const char* name;
  bool takes_descriptor = false;  // as its first argument
};
constexpr Named kNamed[] = {
    {SYS_futex, "futex"},
    {SYS_ioctl, "ioctl", true},
    {SYS_read, "read", true},
    {SYS_readv, "readv", true},
    {SYS_pread64, "pread64", true},
    {SYS_write, "write", true},
    {SYS_writev, "writev", true},
    {SYS_poll, "poll"},
    {SYS_ppoll, "ppoll"},
    {SYS_select, "select"},
    {SYS_pselect6, "pselect6"},
    {SYS_epoll_wait, "epoll_wait", true},
    {SYS_epoll_pwait, "epoll_pwait", true},
    {SYS_nanosleep, "nanosleep"},
    {SYS_clock_nanosleep, "clock_nanosleep"},
    {SYS_pause, "pause"},
    {SYS_wait4, "wait4"},
    {SYS_waitid, "waitid"},
    {SYS_accept, "accept", true},
    {SYS_accept4, "accept4", true},
    {SYS_connect, "connect", true},
    {SYS_recvfrom, "recvfrom", true},
    {SYS_recvmsg, "recvmsg", true},
    {SYS_sendto, "sendto", true},
    {SYS_sendmsg, "sendmsg", true},
    {SYS_rt_sigtimedwait, "rt_sigtimedwait"},
    {SYS_rt_sigsuspend, "rt_sigsuspend"},
    {SYS_sched_yield, "sched_yield"},
    {SYS_mmap, "mmap"},
    {SYS_munmap, "munmap"},
    {SYS_madvise, "madvise"},
    {SYS_mprotect, "mprotect"},
    {SYS_fsync, "fsync", true},
    {SYS_flock, "flock", true},
    {SYS_openat, "openat"},
    {SYS_clone, "clone"},
    {SYS_clone3, "clone3"},
    {SYS_vfork, "vfork"},
    {SYS_execve, "execve"},
    {SYS_kill, "kill"},
    {SYS_tkill, "tkill"},
    {SYS_tgkill, "tgkill"},
    {SYS_exit, "exit"},
    {SYS_exit_group, "exit_group"},
    {SYS_restart_syscall, "a wait that was interrupted and goes on"},
};

std::string named(const ProcFiles& proc, Tid tid, long number, std::uint64_t first_argument) {
  const auto it = std::ranges::find(kNamed, number, &Named::number);
  if (it == std::end(kNamed)) return fmt::format("system call {}", number);
  const std::string file =
      it->takes_descriptor ? proc.link(tid, fmt::format("fd/{}", static_cast<int>(first_argument))) : std::string();
  return file.empty() ? it->name : fmt::format("{} on {}", it->name, file);
}

}  // namespace

std::string what_it_does(Tid tid, const Registers& registers, const ProcFiles& proc) {
  const long number = static_cast<long>(registers.orig_rax);
  return number < 0 ? "running" : named(proc, tid, number, registers.rdi);
}

std::string what_it_does_unstopped(Tid tid, const ProcFiles& proc) {
  std::istringstream in(proc.read(tid, "syscall"));
  std::string word, argument;
  if (!(in >> word)) return {};
  if (word == "running") return word;
  char* end = nullptr;
  const long number = std::strtol(word.c_str(), &end, 10);
  if (*end != '\0' || number < 0 || !(in >> argument)) return {};
  return named(proc, tid, number, std::strtoull(argument.c_str(), nullptr, 16));
}

std::uint64_t signals_awaited(Tid tid, const Memory& memory, const ProcFiles& proc) {
  std::istringstream in(proc.read(tid, "syscall"));
  std::string number, set;
  if (!(in >> number >> set) || std::strtol(number.c_str(), nullptr, 10) != SYS_rt_sigtimedwait) return 0;
  return memory.value<std::uint64_t>({std::strtoull(set.c_str(), nullptr, 16)}).value_or(0);
}

bool kills_itself(Pid pid, const Registers& r) {
  const auto is_own = [pid](std::uint64_t whom) {
    return static_cast<pid_t>(whom) <= 0 || static_cast<pid_t>(whom) == pid.value();
  };
  switch (static_cast<long>(r.orig_rax)) {
    case SYS_kill: return r.rsi == SIGKILL && is_own(r.rdi);
    case SYS_tgkill: return r.rdx == SIGKILL && is_own(r.rdi);
    default: return false;
  }
}

}  // namespace fade
