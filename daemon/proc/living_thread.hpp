// Finds living threads from proc(5), because proc(5) shows the memory of a process through its living threads only.
#pragma once
#include "base/pid.hpp"
#include "proc/proc_files.hpp"

namespace fade {

// True if the thread is a zombie, or does not exist.
bool has_ended(Tid tid, const ProcFiles& proc = ProcFiles());

// The thread, or another living thread of its process if the thread has ended. The thread, too, if all threads have
// ended, or if there is no such process. For a process: as for its leader.
Tid living_thread(TaskId task, const ProcFiles& proc = ProcFiles());

}  // namespace fade
