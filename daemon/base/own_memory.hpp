// The memory that fade may have itself. Limits of the shell (ulimit -v, -d, -s) are meant for the program: fade raises its own as far as
// the kernel lets it, gives the program what it was given, and says so before it runs out. Set up by main(), before threads.
#pragma once
#include "base/result.hpp"

namespace fade::own_memory {

// Raises the limits. From then on, whoever runs out of memory says it, with `consequence` (a string literal), and ends with `status`
// at once: without a tracer the program goes on by its safety net.
void take(int status, const char* consequence);
// In a child that is about to execute a program: the limits as they were. Async-signal-safe.
void give_back();
// An error where what is allowed is too little to begin with.
Result<void> check();
// Most of what is allowed is used: time to let go. A file is read, where there is a limit.
bool is_scarce();
Error scarcity();  // what is_scarce() means, with its fix
[[noreturn]] void ran_out();

}  // namespace fade::own_memory
