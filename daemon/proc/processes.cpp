#include "proc/processes.hpp"

#include <elf.h>
#include <unistd.h>

#include <algorithm>

namespace fade {

std::string read_thread_name(Tid tid, const ProcFiles& proc) { return proc.comm(tid); }
Pid read_thread_group(Tid tid, const ProcFiles& proc) { return proc.status(tid).pid("Tgid"); }
Pid read_parent(TaskId task, const ProcFiles& proc) { return proc.status(task).pid("PPid"); }
pid_t read_own_pid(Pid pid, const ProcFiles& proc) { return proc.status(pid).last_number("NStgid"); }
Tid read_tracer(Tid tid, const ProcFiles& proc) { return proc.status(tid).tid("TracerPid"); }
char read_state(Tid tid, const ProcFiles& proc) { return proc.status(tid).state(); }
std::vector<Tid> read_thread_ids(Pid pid, const ProcFiles& proc) { return proc.threads(pid); }

std::optional<std::int64_t> read_cpu_ns(Pid pid, const ProcFiles& proc) {
  static const std::int64_t tick_ns = 1'000'000'000 / std::max(1L, ::sysconf(_SC_CLK_TCK));
  const StatFile stat = proc.stat(pid);
  const auto user = stat.number(StatFile::UserTime), system = stat.number(StatFile::SystemTime);
  if (!user || !system) return std::nullopt;
  return static_cast<std::int64_t>(*user + *system) * tick_ns;
}

bool read_is_64_bit(Pid pid, const ProcFiles& proc) {
  const auto begin = read_bounded(proc.path(pid, "exe"), EI_CLASS + 1);
  return !begin || begin->size() <= EI_CLASS || (*begin)[EI_CLASS] == ELFCLASS64;
}

std::string read_seccomp(Tid tid, const ProcFiles& proc) {
  const StatusFile status = proc.status(tid);
  return std::string(status.value("Seccomp")) + "/" + std::string(status.value("Seccomp_filters"));
}

bool has_shadow_stack(Tid tid, const ProcFiles& proc) {
  return proc.status(tid).value("x86_Thread_features").find("shstk") != std::string_view::npos;
}

SignalSets read_signal_sets(Tid tid, const ProcFiles& proc) {
  const StatusFile status = proc.status(tid);
  SignalSets out{.pending = status.mask("ShdPnd"),
                 .blocked = status.mask("SigBlk"),
                 .ignored = status.mask("SigIgn"),
                 .caught = status.mask("SigCgt"),
                 .pending_alone = status.mask("SigPnd")};
  out.pending |= out.pending_alone;
  return out;
}

}  // namespace fade
