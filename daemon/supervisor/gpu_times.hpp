// --gpu-times: the variables that let HIP ask when the GPU worked. It reads them once, when it starts.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "base/pid.hpp"
#include "base/result.hpp"
#include "proc/proc_files.hpp"

namespace fade {

// The changes of the environment of a program, with those variables first: the user's own changes win.
std::vector<std::string> with_gpu_times(const std::vector<std::string>& changes);
// Fails if none of the processes was started with one of the variables.
Result<void> check_gpu_times(std::span<const Pid> pids, const ProcFiles& proc = ProcFiles());

}  // namespace fade
