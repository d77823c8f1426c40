// The machine that fade runs on, as the checks want it.
#pragma once
#include "doctor/check.hpp"

namespace fade::doctor {

// Alone, with a process, or with a program that is looked up as execvp(3) does and not run.
Examined this_machine();
Examined with_process(pid_t pid);
Examined with_program(const std::string& name);

}  // namespace fade::doctor
