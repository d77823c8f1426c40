// Other programs of fade: beside this one, else in PATH.
#pragma once
#include <string>
#include <vector>

namespace fade::cli::top {

// Returns only if the program cannot be started. Async-signal-unsafe: for a child of a process with one thread.
void execute(const std::vector<std::string>& words);

}  // namespace fade::cli::top
