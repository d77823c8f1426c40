// Texts made from a program's rows: the help screens, the version line and the description that completions and
// manual pages are generated from.
#pragma once
#include <string>
#include <vector>

#include "cli/options/program.hpp"

namespace fade::cli {

std::string short_help(const Program& program, const std::vector<Option>& rows);  // one screen
std::string full_help(const Program& program, const std::vector<Option>& rows);   // everything, by group
std::string version_line(const Program& program);
std::string description_json(const Program& program, const std::vector<Option>& rows);  // --dump-cli

}  // namespace fade::cli
