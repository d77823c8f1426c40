// Why the kernel did not let us trace a process, and what can be done (ptrace(2), "Ptrace access mode checking").
#pragma once
#include <sys/types.h>

#include <string>

#include "base/result.hpp"

namespace fade {

// `proc` is where /proc is mounted: tests put their own there.
Error explain_refusal(pid_t pid, Error refusal, const std::string& proc = "/proc");

}  // namespace fade
