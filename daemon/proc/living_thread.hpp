// Finds living threads from proc(5), because proc(5) shows the memory of a process through its living threads only.
#pragma once
#include <sys/types.h>

#include "proc/proc_files.hpp"

namespace fade {

// True if the thread is a zombie, or does not exist.
bool has_ended(pid_t tid, const ProcFiles& proc = ProcFiles());

// The leader, or another living thread if the leader has ended. `pid` if all threads have ended, or if there is no such
// process.
pid_t living_thread(pid_t pid, const ProcFiles& proc = ProcFiles());

}  // namespace fade
