// Whether a process may be traced by us, and which rule forbids it (ptrace(2) "Ptrace access mode checking", Yama,
// namespaces, containers). Looks only; the /proc folder is a parameter so that every rule can be tested.
#pragma once
#include <sys/types.h>

#include <string>
#include <vector>

#include "base/result.hpp"

namespace fade {

struct Check {
  enum class Verdict { Good, Bad, Unknown };
  std::string what;  // "it is not traced already"
  Verdict verdict = Verdict::Good;
  std::string cause;  // where bad
  std::string fix;    // a command to paste
  int code = 0;       // where bad: EPERM, ESRCH or ENOTSUP
};

// Who asks: a value, so that a test can be anyone.
struct Asker {
  pid_t pid = 0;
  uid_t uid = 0;
  bool can_ptrace = false;  // CAP_SYS_PTRACE is effective
  static Asker self();
};

// All rules in the order in which a user should hear of them; what comes after the first bad one may be Unknown.
std::vector<Check> check_attach(pid_t pid, const Asker& asker, const std::string& proc = "/proc");

// `refusal` (EPERM or ESRCH of PTRACE_SEIZE) with the cause and the fix of the first bad check. `program`: whose
// command line a fix repeats, fade-run or fade-attach.
Error explain_refusal(pid_t pid, Error refusal, const std::string& program, const std::string& proc = "/proc");

}  // namespace fade
