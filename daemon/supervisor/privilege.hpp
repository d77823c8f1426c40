// Advice for a user without CAP_SYS_PTRACE, which depends on the place where fade runs.
#pragma once
#include <string>

#include "base/pid.hpp"
#include "proc/proc_files.hpp"
#include "supervisor/permission.hpp"

namespace fade {

// A sign that fade is in a container ("/.dockerenv exists"); empty: there is none. There is no sure sign: a container
// may hide all of them, and /.dockerenv may be left over from an image that was unpacked elsewhere.
std::string container_sign(const ProcFiles& proc);

// The command line that the user would type to get at `pid`.
std::string command_of(const Asker& asker, Pid pid);

// A command or a sentence that makes the asker able to trace `pid`. `sign`: container_sign().
std::string way_to_privilege(const Asker& asker, Pid pid, const std::string& sign);

}  // namespace fade
