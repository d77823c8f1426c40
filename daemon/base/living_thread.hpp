// Through which thread proc(5) shows a process' memory.
#pragma once
#include <sys/types.h>

namespace fade {

// The leader; where that has ended before the others, one that lives. `pid` where all have ended, or there is no such process.
pid_t living_thread(pid_t pid);

}  // namespace fade
