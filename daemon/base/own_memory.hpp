// The memory limit of fade itself. Limits of the shell (ulimit -v, -d, -s) are meant for the program. Therefore fade
// raises its own limits as far as the kernel allows, and gives the program the original limits. It reports a shortage
// before memory runs out. main() sets it up, before threads start.
#pragma once
#include "base/result.hpp"

namespace fade::own_memory {

// Raises the limits. From then on, a failed allocation prints `consequence` (a string literal) and ends the process
// with `status` at once. Without a tracer the program continues by its safety net.
void take(int status, const char* consequence);
// Another `consequence` from then on.
void change_consequence(const char* consequence);
// Runs before that message, such as to restore the terminal; nullptr: nothing. Must be async-signal-safe.
void before_end(void (*restore)());
// Restores the original limits, in a child that is about to execute a program. Async-signal-safe.
void give_back();
// Returns an Error if the limit is too low to start.
Result<void> check();
// True if most of the limit is used: fade must detach. Reads a file if there is a limit.
bool is_scarce();
Error scarcity();  // the Error for is_scarce(), with its fix
[[gnu::noreturn]] void ran_out();

}  // namespace fade::own_memory
