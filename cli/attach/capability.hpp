// CAP_SYS_PTRACE of the file, where it was given with `setcap cap_sys_ptrace+p`: there it is permitted but not in
// effect, so that the program also starts where the capability is not to be had (a container without it).
#pragma once

namespace fade::cli::attach {

// Puts it into effect if it is permitted; otherwise nothing happens.
void raise_ptrace_capability();

}  // namespace fade::cli::attach
