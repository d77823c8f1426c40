#include <fmt/format.h>

#include <algorithm>

#include "doctor/checks.hpp"
#include "supervisor/permission_rules.hpp"
#include "supervisor/privilege.hpp"
#include "tap/tsc_clock.hpp"

namespace fade::doctor {
namespace {

constexpr std::size_t kMostOfCpuInfo = 64 << 10;  // the first processor is enough

// An unknown answer with a step is something to look at; without one there is nothing to do.
Answer from_check(const Check& check) {
  if (check.verdict == Check::Verdict::Good) return ok(check.what);
  if (check.verdict == Check::Verdict::Bad) return problem(check.cause, check.fix);
  return check.fix.empty() ? none(fmt::format("{}: {}", check.what, check.cause)) : warning(check.cause, check.fix);
}

std::string first_line_of(const std::string& text) {
  return text.substr(0, text.find_first_of(std::string("\n\0", 2)));
}

}  // namespace

Answers tracing(const Examined& x) {
  const Check check = check_tracing(x.asker, x.root + "/proc", x.kernel);
  if (check.verdict == Check::Verdict::Good) return {ok("a process may trace its children: fade-run works")};
  return {from_check(check)};
}

Answers yama(const Examined& x) {
  const char level = yama_level(x.proc());
  const std::string scope = fmt::format("kernel.yama.ptrace_scope is {}", level);
  const bool runs = x.kind() == kProgram;  // fade-run traces a child
  if (level == '3')
    return {problem(scope + ": tracing is off until the next boot",
                    "set kernel.yama.ptrace_scope to 0, 1 or 2 in /etc/sysctl.d and reboot")};
  if (level == '2' && !x.asker.can_ptrace)
    return {problem(scope + ": tracing needs CAP_SYS_PTRACE",
                    "sudo fade ...      or, until reboot:  sudo sysctl kernel.yama.ptrace_scope=1")};
  if (level == '1' && !x.asker.can_ptrace && !runs)
    return {warning(scope + " (Ubuntu's default): fade-run works, fade-attach needs CAP_SYS_PTRACE",
                    "sudo fade-attach PID      or, until reboot:  sudo sysctl kernel.yama.ptrace_scope=0")};
  if (level == '0') return {ok("processes of the same user may be attached to")};
  return {ok(scope + (runs ? ": a child may be traced" : ", and CAP_SYS_PTRACE is held"))};
}

Answers capability(const Examined& x) {
  if (x.asker.can_ptrace) return {ok("CAP_SYS_PTRACE is held: other users' processes may be attached to")};
  if (!x.asker.may_gain_ptrace)
    return {
        warning(fmt::format("no process can have CAP_SYS_PTRACE {}: only processes of the same user may be attached "
                            "to, and only if Yama allows it",
                            x.is_in_container() ? "in this container" : "in this session"),
                "if that is not enough: " + way_to_privilege(x.asker, 0, container_sign(x.proc())))};
  if (StatusFile(x.proc().read("self/status")).mask("NoNewPrivs") != 0)
    return {warning("CAP_SYS_PTRACE is not held, and no_new_privs keeps sudo and file capabilities from giving it",
                    "be root in the container      (Kubernetes: allowPrivilegeEscalation: true)")};
  return {ok("CAP_SYS_PTRACE is not held; it is needed for other users' processes only")};
}

Answers seccomp(const Examined& x) {
  const StatusFile status(x.proc().read("self/status"));
  if (status.empty()) return {none("unknown: /proc/self/status cannot be read")};
  if (status.mask("Seccomp") == 0) return {ok("no filter")};
  const Check tried = check_tracing(x.asker, x.root + "/proc", x.kernel);
  if (tried.verdict == Check::Verdict::Bad) return {problem("a filter forbids ptrace", tried.fix)};
  return {ok("a filter is set, and ptrace passes it")};
}

Answers security_module(const Examined& x) {
  if (first_line_of(read_bounded(x.root + "/sys/fs/selinux/booleans/deny_ptrace", 64).value_or("")).starts_with("1"))
    return {problem("SELinux's boolean deny_ptrace is on", "sudo setsebool deny_ptrace off")};
  if (x.kernel.security_modules.empty()) return {none("active modules are unknown (/sys/kernel/security/lsm)")};
  const std::string label = first_line_of(x.proc().read("self/attr/current"));
  return {ok(fmt::format("active: {}{}{}", x.kernel.security_modules,
                         label.empty() ? "" : "; label of this process: ", label))};
}

Answers container(const Examined& x) {
  const std::string sign = container_sign(x.proc());
  return {sign.empty() ? none("no sign of one") : ok("fade is in a container: " + sign)};
}

// The rules that allow it are one line: fade-attach --check lists them. If rules forbid it, these count alone, and of
// those that the same step mends the first.
Answers attaching(const Examined& x) {
  const std::vector<Check> checks = check_attach(x.pid, x.asker, x.root + "/proc", x.kernel);
  const auto good = std::ranges::count(checks, Check::Verdict::Good, &Check::verdict);
  Answers out;
  if (good > 0)
    out.push_back(
        ok(fmt::format("{} of {} rules allow it (fade-attach --check {} lists them)", good, checks.size(), x.pid)));
  const bool is_forbidden = std::ranges::count(checks, Check::Verdict::Bad, &Check::verdict) > 0;
  const auto is_said = [&](const Check& check) { return std::ranges::count(out, check.fix, &Answer::fix) > 0; };
  for (const Check& check : checks) {
    const bool counts = is_forbidden ? check.verdict == Check::Verdict::Bad : check.verdict != Check::Verdict::Good;
    if (counts && (check.fix.empty() || !is_said(check))) out.push_back(from_check(check));
  }
  return out;
}

Answers tap_clock(const Examined& x) {
  const std::string cpu = read_bounded(x.root + "/proc/cpuinfo", kMostOfCpuInfo).value_or("");
  const std::string source =
      read_bounded(x.root + "/sys/devices/system/clocksource/clocksource0/current_clocksource", 64).value_or("");
  const auto usable = tap::TscClock::usable(cpu, source);
  if (usable) return {ok(fmt::format("the time stamp counter is a usable clock ({})", first_line_of(source)))};
  return {warning(fmt::format("no taps, the cheaper way to record: {}", usable.error().cause),
                  usable.error().fix + "; journalctl -k -g clocksource shows why the kernel gave the counter up")};
}

}  // namespace fade::doctor
