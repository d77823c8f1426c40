// Commands in the words of a sentence. Pure functions of any thread.
#pragma once
#include <string>
#include <vector>

namespace fade::live {

// "python3 train.py": the program and, for an interpreter, its script, both without folders. Leaves out all other
// arguments, because one may be a secret.
std::string short_command(const std::vector<std::string>& command);

}  // namespace fade::live
