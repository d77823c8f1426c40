// The machine that fade runs on, as the checks want it.
#pragma once
#include "base/pid.hpp"
#include "doctor/check.hpp"

namespace fade::doctor {

// Alone, with a process, or with a program that is looked up as execvp(3) does and not run.
Examined this_machine();
Examined with_process(Pid pid);
Examined with_program(const std::string& name);

}  // namespace fade::doctor
