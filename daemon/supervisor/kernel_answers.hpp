// Facts about tracing that no file shows and only the kernel can answer. A value of functions, so that a test answers
// itself.
#pragma once
#include <functional>
#include <optional>
#include <string>

#include "base/pid.hpp"

namespace fade {

// The user namespace of another process as seen from ours (user_namespaces(7)).
enum class UserNamespace {
  Same,
  Nested,       // below ours: our capabilities count in it
  NestedOwned,  // below ours and made by our user, with all capabilities in it therefore
  Foreign,      // beside or above ours: our capabilities do not count
  Closed,       // the kernel does not let us look, for which it asks nearly the same as for tracing
  Unknown,      // gone, or a kernel that does not show it
};

struct KernelAnswers {
  std::function<int(Pid)> signal;  // errno of kill(pid, 0); 0: it is there and ours
  std::function<std::optional<int>()>
      trace_me;  // errno of PTRACE_TRACEME in a child of ours; nullopt: it cannot be tried
  std::function<UserNamespace(Pid)> user_namespace;
  std::string security_modules = {};  // active ones, as /sys/kernel/security/lsm names them; empty: unknown

  static KernelAnswers real();
};

}  // namespace fade
