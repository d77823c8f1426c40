// Command lines as a table shows them.
#pragma once
#include <string>

namespace fade::table {

// Without the folders of its program and script: "python3 train.py --epochs 3".
std::string short_command(const std::string& command);

}  // namespace fade::table
