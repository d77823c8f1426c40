#include "supervisor/permission_rules.hpp"

#include <fmt/format.h>
#include <pwd.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "proc/signal_bits.hpp"
#include "supervisor/program_kind.hpp"

namespace fade {
namespace {

using Verdict = Check::Verdict;

constexpr int kMostAncestors = 100'000;

Finding good() { return {}; }
Finding unknown(std::string cause, std::string fix = {}) {
  return {Verdict::Unknown, std::move(cause), std::move(fix)};
}
Finding bad(std::string cause, std::string fix, int code = EPERM) {
  return {Verdict::Bad, std::move(cause), std::move(fix), code};
}
Finding lacking(std::string cause, std::string fix) {
  return {Verdict::Bad, std::move(cause), std::move(fix), EPERM, true};
}

std::string user_name(uid_t uid) {
  std::array<char, 4096> buffer;
  passwd entry{}, *found = nullptr;
  const bool known = ::getpwuid_r(uid, &entry, buffer.data(), buffer.size(), &found) == 0 && found;
  return known ? fmt::format("user {} (uid {})", printable(entry.pw_name), uid) : fmt::format("uid {}", uid);
}

Finding exists(const Subject& s) {
  if (s.pid == s.asker.pid) return bad("it is " + s.asker.program + " itself", "");
  if (!s.status.empty()) return good();
  if (s.kernel.signal(s.pid) == ESRCH)
    return bad("it has ended, or it lives in another PID namespace", "ps -e -o pid,user,args", ESRCH);
  return lacking("/proc does not show it: /proc is mounted with hidepid, and it belongs to another user",
                 s.more_privilege());
}

Finding is_process(const Subject& s) {
  const Pid process = s.status.pid("Tgid");
  if (process == 0 || process == s.pid) return good();
  return bad(fmt::format("it is one thread of process {}", process), command_of(s.asker, process), ESRCH);
}

Finding is_alive(const Subject& s) {
  if (s.status.state() != 'Z' && s.status.state() != 'X') return good();
  return bad(
      fmt::format("it has ended: a zombie that its parent, process {}, has not asked about yet", s.status.pid("PPid")),
      "", ESRCH);
}

Finding is_program(const Subject& s) {
  if (!s.proc.is_kernel_thread(s.pid)) return good();
  return bad("kernel threads cannot be traced", "", ENOTSUP);
}

Finding is_untraced(const Subject& s) {
  const Tid tracer = s.status.tid("TracerPid");
  if (tracer == 0 || tracer == leader_of(s.asker.pid)) return good();
  const std::string name = s.proc.program_name(tracer);
  const std::string cause = fmt::format("it is already traced by process {} ({})", tracer, name);
  if (s.asker.program == "fade-run") return bad(cause, "end that tracer, or run fade-run outside of it");
  return bad(cause, fmt::format("make {} detach, then: {}", name, s.command()));
}

Finding is_64_bit(const Subject& s) {
  switch (program_kind(s.proc.path(s.pid, "exe"))) {
    case ProgramKind::Bits32: return bad("it is a 32-bit program: fade watches 64-bit ones", "", ENOTSUP);
    case ProgramKind::Other: return bad("it is not a program for 64-bit x86", "", ENOTSUP);
    case ProgramKind::Unreadable: return unknown("its program file may not be read");
    case ProgramKind::Static:
    case ProgramKind::Dynamic: break;
  }
  return good();
}

Finding is_dynamic(const Subject& s) {
  const ProgramKind kind = program_kind(s.proc.path(s.pid, "exe"));
  if (kind == ProgramKind::Static) return bad("it is a static program: it cannot load HIP", "", ENOTSUP);
  return kind == ProgramKind::Dynamic ? good() : unknown("its program file may not be read, or was not understood");
}

// Real, effective and saved: the kernel does not ask for the fourth, of the file system.
std::optional<std::array<std::uint32_t, 3>> asked_ids(const StatusFile& status, std::string_view name) {
  const auto ids = status.ids(name);
  return ids ? std::optional(std::array{(*ids)[0], (*ids)[1], (*ids)[2]}) : std::nullopt;
}

// All three ids of both sorts must be the asker's real ones.
Finding is_of_our_user(const Subject& s) {
  const auto uids = asked_ids(s.status, "Uid"), gids = asked_ids(s.status, "Gid");
  if (s.privileged()) return good();
  if (!uids || !gids) return unknown("its users are not told");
  const auto all = [](const auto& ids, std::uint32_t one) { return std::ranges::count(ids, one) == 3; };
  if (all(*uids, s.asker.uid) && all(*gids, s.asker.gid)) return good();
  if (!all(*uids, (*uids)[0]) || !all(*gids, (*gids)[0]))
    return lacking(fmt::format("it changes between users or groups (uids {}, gids {}): a set-uid program",
                               fmt::join(*uids, " "), fmt::join(*gids, " ")),
                   s.more_privilege());
  // Root without the capability, as in a container, can still become the other user.
  const std::string fix =
      s.asker.uid == 0 && !s.asker.may_gain_ptrace
          ? fmt::format("setpriv --reuid={} --regid={} --clear-groups {}", (*uids)[0], (*gids)[0], s.command())
          : s.more_privilege();
  if ((*uids)[0] != s.asker.uid)
    return lacking(fmt::format("it belongs to {}, and this is {}", user_name((*uids)[0]), user_name(s.asker.uid)), fix);
  return lacking(fmt::format("it belongs to group {}, and this is group {}", (*gids)[0], s.asker.gid), fix);
}

bool descends(const Subject& s, Pid ancestor) {
  Pid at = s.pid;
  for (int i = 0; i < kMostAncestors && at > 1; ++i)
    if ((at = s.proc.status(at).pid("PPid")) == ancestor) return true;
  return false;
}

Finding is_allowed_by_yama(const Subject& s) {
  const char level = yama_level(s.proc);
  if (level == '3')
    return bad("kernel.yama.ptrace_scope is 3: tracing is off until the next boot",
               "set kernel.yama.ptrace_scope to 0, 1 or 2 in /etc/sysctl.d and reboot");
  if (level == '2' && !s.privileged())
    return lacking("kernel.yama.ptrace_scope is 2: tracing needs CAP_SYS_PTRACE", s.more_privilege());
  if (level != '1' || s.privileged() || descends(s, s.asker.pid)) return good();
  return lacking("kernel.yama.ptrace_scope is 1 - only a parent may trace a process (Ubuntu's default)",
                 s.more_privilege() +
                     "      or, until reboot:  sudo sysctl kernel.yama.ptrace_scope=0      or start it with fade-run");
}

Finding is_in_our_user_namespace(const Subject& s) {
  switch (s.user_namespace) {
    case UserNamespace::Nested:
      if (s.privileged()) return good();
      return lacking("it lives in a user namespace below ours (a rootless container, a sandbox)",
                     s.more_privilege() + "      or run fade inside of it");
    case UserNamespace::Foreign:
      return lacking("it lives in another user namespace (ours is that of a rootless container or a sandbox)",
                     "run fade as root on the host, or inside the container of the process");
    case UserNamespace::Closed: return unknown("its user namespace may not be looked at");
    case UserNamespace::Unknown: return unknown("its user namespace is not told");
    case UserNamespace::Same:
    case UserNamespace::NestedOwned: break;
  }
  return good();
}

// The kernel gives the files of a process that is not dumpable to root (proc(5)).
Finding is_dumpable(const Subject& s) {
  struct stat file {};
  const auto uids = asked_ids(s.status, "Uid");
  if (s.privileged()) return good();
  if (!uids || ::stat(s.proc.path(s.pid, "status").c_str(), &file) != 0)
    return unknown("the owner of its files is not told");
  if ((*uids)[1] == 0) return unknown("of root's processes this cannot be seen");
  if (file.st_uid == (*uids)[1]) return good();
  return lacking(
      "it is not dumpable: a set-uid program, one with file capabilities, or one that asked for it (PR_SET_DUMPABLE)",
      s.more_privilege());
}

Finding has_no_more_capabilities(const Subject& s) {
  const std::uint64_t more = s.status.mask("CapPrm") & ~s.asker.capabilities;
  if (more == 0 || s.privileged()) return good();
  return lacking(fmt::format("it holds capabilities that we lack ({:#x})", more), s.more_privilege());
}

Finding has_the_capability(const Subject& s) {
  if (!s.lacks_privilege || s.privileged()) return good();
  if (s.asker.can_ptrace) return bad("it counts in our own user namespace only", "run fade as root on the host");
  const std::string where = s.container.empty() ? "here" : fmt::format("in this container ({})", s.container);
  const std::string cause = s.asker.may_gain_ptrace
                                ? fmt::format("it exists {}, but {} does not hold it", where, user_name(s.asker.uid))
                                : fmt::format("no process can have it {}: it is missing from the bounding set", where);
  return bad(cause, s.more_privilege());
}

Finding is_open_to_us(const Subject& s) {
  if (s.user_namespace != UserNamespace::Closed) return good();
  if (s.refused) return unknown("no, but a reason was found above");
  const std::string read = s.proc.read(s.pid, "attr/current");
  const std::string label =
      printable(std::string_view(read).substr(0, read.find_first_of(std::string_view("\n\0", 2))));
  return bad(
      fmt::format(
          "nothing above forbids it, but the kernel does: {}{}, or it lives in a user namespace that is not below ours",
          a_security_module(s.kernel), label.empty() ? "" : fmt::format("; its label is {}", label)),
      kAskTheKernel);
}

Finding is_not_filtered(const Subject& s) {
  std::uint64_t strongest = 0;
  for (const Tid tid : s.proc.threads(s.pid)) {
    const std::uint64_t mode = s.proc.status(s.pid, tid).mask("Seccomp");
    if (mode == 1) return bad("strict seccomp: any system call that fade needs in it would kill it", "", ENOTSUP);
    strongest = std::max(strongest, mode);
  }
  if (strongest == 0) return good();
  return unknown(
      "it has a seccomp filter, which may forbid what fade needs in it (mmap, mprotect, munmap, rt_sigaction)",
      "if it does: start the program with fade-run, which prepares it before the filter is set");
}

// Breakpoints need SIGTRAP; the program's settings for it are answered in its place (session/sigtrap/trap_guard.hpp).
Finding is_sigtrap_free(const Subject& s) {
  std::size_t blocked = 0;
  const std::vector<Tid> threads = s.proc.threads(s.pid);
  for (const Tid tid : threads) blocked += (s.proc.status(s.pid, tid).mask("SigBlk") & kTrapBit) != 0;
  std::string cause;
  if (s.status.mask("SigCgt") & kTrapBit) cause = "it has a handler for SIGTRAP";
  if (s.status.mask("SigIgn") & kTrapBit) cause = "it ignores SIGTRAP";
  if (blocked > 0)
    cause += fmt::format("{} SIGTRAP in {} of {} threads", cause.empty() ? "it blocks" : " and blocks", blocked,
                         threads.size());
  return cause.empty() ? good() : unknown(cause + "; this is covered: fade needs SIGTRAP and gives it back");
}

Finding is_running(const Subject& s) {
  if (s.status.state() != 'T') return good();
  return unknown("it is stopped (SIGSTOP or Ctrl-Z) and stays so: nothing is seen before it goes on",
                 fmt::format("kill -CONT {}", s.pid));
}

constexpr Rule kRules[] = {
    {"exists", exists, true},
    {"is a process, not a thread", is_process, true},
    {"has not ended", is_alive, true},
    {"is a program, not a kernel thread", is_program, true},
    {"is not traced by another program", is_untraced},
    {"is a 64-bit x86 program", is_64_bit},
    {"is dynamically linked", is_dynamic},
    {"same user, or CAP_SYS_PTRACE", is_of_our_user},
    {"Yama allows tracing it", is_allowed_by_yama},
    {"our rights count in its user namespace", is_in_our_user_namespace},
    {"core dumps allowed (dumpable)", is_dumpable},
    {"holds no capability that we lack", has_no_more_capabilities},
    {"ptrace is allowed here", is_tracing_allowed},
    {"CAP_SYS_PTRACE held, or not needed", has_the_capability},
    {"the kernel lets us look into it", is_open_to_us},
    {"no seccomp filter in the way", is_not_filtered},
    {"SIGTRAP is free", is_sigtrap_free},
    {"is running, not stopped", is_running},
};

}  // namespace

Finding is_tracing_allowed(const Subject& s) {
  const std::optional<int> answer = s.kernel.trace_me();
  if (!answer) return unknown(s.asker.program + " is itself being traced, so it cannot be tried");
  if (*answer == 0) return good();
  if (yama_level(s.proc) >= '2') return unknown("not to be told from what Yama forbids");
  const std::string what = fmt::format("ptrace is forbidden here altogether ({}): ", std::strerror(*answer));
  const StatusFile ours(s.proc.read("self/status"));
  if (ours.empty() || ours.mask("Seccomp") != 0)
    return bad(what + "a seccomp filter, such as a container's profile",
               "docker run --cap-add=SYS_PTRACE ...   (Docker before 19.03 or a custom profile)");
  return bad(what + a_security_module(s.kernel), "sudo setsebool deny_ptrace off   (SELinux)");
}

char yama_level(const ProcFiles& proc) {
  const std::string text = proc.read("sys/kernel/yama/ptrace_scope");
  return text.empty() ? '0' : text[0];
}

std::span<const Rule> permission_rules() { return kRules; }

std::string a_security_module(const KernelAnswers& kernel) {
  struct Known {
    std::string_view name, shown;
  };
  constexpr Known kModules[] = {{"selinux", "SELinux"},
                                {"apparmor", "AppArmor"},
                                {"landlock", "Landlock"},
                                {"smack", "Smack"},
                                {"tomoyo", "TOMOYO"}};
  std::vector<std::string_view> active;
  for (const Known& module : kModules)
    if (("," + kernel.security_modules + ",").find(fmt::format(",{},", module.name)) != std::string::npos)
      active.push_back(module.shown);
  if (active.empty()) return "a security module (SELinux, AppArmor, Landlock)";
  return fmt::format("a security module (active here: {})", fmt::join(active, ", "));
}

}  // namespace fade
