// Which threads live, as proc(5) tells. proc(5) shows the memory of a process through its living threads only.
#pragma once
#include <sys/types.h>

namespace fade {

// Whether the thread is a zombie, or there is no such thread.
bool has_ended(pid_t tid);

// The leader; where that has ended before the others, one that lives. `pid` where all have ended, or there is no such process.
pid_t living_thread(pid_t pid);

}  // namespace fade
