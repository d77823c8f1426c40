// Numbers and commands in the words of a sentence. Pure functions of any thread.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace fade::live {

std::string bytes_text(std::uint64_t bytes);  // "17.0 GiB", "12 B"
std::string seconds_text(std::int64_t ns);    // "2.0 s", "65 s", "3 min 5 s"
// "python3 train.py": the program and, for an interpreter, its script, both without folders. Leaves out all other
// arguments, because one may be a secret.
std::string short_command(const std::vector<std::string>& command);

}  // namespace fade::live
