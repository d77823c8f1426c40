#include "supervisor/permission.hpp"

#include <fmt/format.h>
#include <linux/capability.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "supervisor/permission_rules.hpp"

namespace fade {
namespace {

using Verdict = Check::Verdict;
constexpr std::uint64_t kPtraceBit = 1ull << CAP_SYS_PTRACE;

}  // namespace

Asker Asker::self(std::string program, const std::string& proc) {
  const StatusFile status(ProcFiles(proc).read("self/status"));
  return {.pid = own_pid(),
          .uid = ::getuid(),
          .gid = ::getgid(),
          .can_ptrace = (status.mask("CapEff") & kPtraceBit) != 0,
          .may_gain_ptrace = (status.mask("CapBnd") & kPtraceBit) != 0,
          .capabilities = status.mask("CapPrm"),
          .program = std::move(program)};
}

std::vector<Check> check_attach(Pid pid, const Asker& asker, const std::string& proc, const KernelAnswers& kernel) {
  const ProcFiles files(proc);
  Subject subject{pid, asker, kernel, files, files.status(pid), kernel.user_namespace(pid), container_sign(files)};
  std::vector<Check> out;
  for (const Rule& rule : permission_rules()) {
    auto [verdict, cause, fix, code, for_lack] = rule.find(subject);
    out.push_back({rule.what, verdict, std::move(cause), std::move(fix), code});
    subject.refused |= verdict == Verdict::Bad;
    subject.lacks_privilege |= for_lack;
    if (verdict == Verdict::Bad && rule.ends) break;
  }
  return out;
}

Check check_tracing(const Asker& asker, const std::string& proc, const KernelAnswers& kernel) {
  const ProcFiles files(proc);
  const Subject subject{
      asker.pid, asker, kernel, files, files.status(asker.pid), UserNamespace::Same, container_sign(files)};
  auto [verdict, cause, fix, code, for_lack] = is_tracing_allowed(subject);
  return {"ptrace is allowed here", verdict, std::move(cause), std::move(fix), code};
}

Error explain_refusal(Pid pid, Error refusal, const Asker& asker, const std::string& proc,
                      const KernelAnswers& kernel) {
  if (refusal.code != EPERM && refusal.code != EACCES && refusal.code != ESRCH) return refusal;
  const std::vector<Check> checks = check_attach(pid, asker, proc, kernel);
  const std::string name = ProcFiles(proc).program_name(pid);
  refusal.message += fmt::format("{}: {}", name.empty() ? "" : fmt::format(" ({})", name), std::strerror(refusal.code));
  const auto first_bad = std::ranges::find(checks, Verdict::Bad, &Check::verdict);
  if (first_bad != checks.end()) {
    refusal.cause = first_bad->cause;
    refusal.fix = first_bad->fix;
    refusal.code = first_bad->code;
  } else if (refusal.code == ESRCH) {
    refusal.cause = "it has just ended";
  } else {
    refusal.cause = "no rule that can be seen forbids it: " + a_security_module(kernel) +
                    ", or a tracer outside of our PID namespace";
    refusal.fix = kAskTheKernel;
    refusal.code = EPERM;
  }
  return refusal;
}

Error explain_refusal(Pid pid, Error refusal, const std::string& program, const std::string& proc) {
  return explain_refusal(pid, std::move(refusal), Asker::self(program), proc, KernelAnswers::real());
}

}  // namespace fade
