// The rules for tracing another process, one function each, in the order for a user to read them.
#pragma once
#include <span>
#include <string>

#include "base/pid.hpp"
#include "proc/proc_files.hpp"
#include "supervisor/permission.hpp"
#include "supervisor/privilege.hpp"

namespace fade {

struct Finding {
  Check::Verdict verdict = Check::Verdict::Good;
  std::string cause, fix;
  int code = 0;
  bool for_lack_of_privilege = false;  // with CAP_SYS_PTRACE it would be good
};

// The facts that the rules look at.
struct Subject {
  Pid pid;
  const Asker& asker;
  const KernelAnswers& kernel;
  ProcFiles proc;
  StatusFile status;
  UserNamespace user_namespace;
  std::string container;         // container_sign()
  bool refused = false;          // a rule before was bad
  bool lacks_privilege = false;  // and good with more privilege

  std::string command() const { return command_of(asker, pid); }
  std::string more_privilege() const { return way_to_privilege(asker, pid, container); }
  // CAP_SYS_PTRACE in the namespace that counts: the other process's.
  bool privileged() const {
    if (user_namespace == UserNamespace::NestedOwned) return true;
    return asker.can_ptrace && user_namespace != UserNamespace::Foreign;
  }
};

struct Rule {
  const char* what;
  Finding (*find)(const Subject&);
  bool ends = false;  // if it is bad, no further rule is asked
};

std::span<const Rule> permission_rules();
Finding is_tracing_allowed(const Subject& subject);  // the rule that looks at no process

// kernel.yama.ptrace_scope: '0' to '3'. '0' if the kernel has no Yama.
char yama_level(const ProcFiles& proc);

// "a security module (AppArmor, Landlock)": those that are active here and can forbid tracing.
std::string a_security_module(const KernelAnswers& kernel);

inline constexpr const char* kAskTheKernel = "sudo dmesg | grep -i -e denied -e ptrace";  // if no rule is known

}  // namespace fade
