// Whether a process may be traced by us, and which rule forbids it (ptrace(2) "Ptrace access mode checking", Yama,
// namespaces, containers). Looks only; the /proc folder is a parameter so that every rule can be tested.
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/pid.hpp"
#include "base/result.hpp"
#include "supervisor/kernel_answers.hpp"

namespace fade {

struct Check {
  // Unknown: it could not be found out, or it does no harm but the user should know of it.
  enum class Verdict { Good, Bad, Unknown };
  std::string what;  // "is not traced by another program"
  Verdict verdict = Verdict::Good;
  std::string cause;  // if not good
  std::string fix;    // a command to paste, may be empty
  int code = 0;       // where bad: EPERM, ESRCH or ENOTSUP
};

// The asking user: a value, so that a test can be any user.
struct Asker {
  Pid pid = 0;
  uid_t uid = 0;  // the real ids count
  gid_t gid = 0;
  bool can_ptrace = false;              // CAP_SYS_PTRACE is effective
  bool may_gain_ptrace = false;         // and in the bounding set: root would have it here
  std::uint64_t capabilities = 0;       // permitted ones, by bit
  std::string program = "fade-attach";  // a fix repeats this program's command line

  static Asker self(std::string program = "fade-attach", const std::string& proc = "/proc");
};

// All rules in the order for a user to read them; rules after the first bad one may be Unknown. Ends with the first if
// there is no living process of that number.
std::vector<Check> check_attach(Pid pid, const Asker& asker, const std::string& proc = "/proc",
                                const KernelAnswers& kernel = KernelAnswers::real());

// The one rule that concerns no process: whether ptrace is allowed here at all.
Check check_tracing(const Asker& asker, const std::string& proc = "/proc",
                    const KernelAnswers& kernel = KernelAnswers::real());

// `refusal` (EPERM, EACCES or ESRCH of coming to the process) with the cause, the fix and the code of the first bad
// check, and the name of the process in its message; other errors stay as they are. `program`: as in Asker; "fade-run"
// for its own child.
Error explain_refusal(Pid pid, Error refusal, const Asker& asker, const std::string& proc = "/proc",
                      const KernelAnswers& kernel = KernelAnswers::real());
Error explain_refusal(Pid pid, Error refusal, const std::string& program, const std::string& proc = "/proc");

}  // namespace fade
