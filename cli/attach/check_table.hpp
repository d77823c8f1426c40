// What --check prints: every rule that decides whether a process may be watched. Pure text.
#pragma once
#include <string>
#include <vector>

#include "base/pid.hpp"
#include "cli/recording/end_block.hpp"
#include "supervisor/permission.hpp"

namespace fade::cli::attach {

// `name`: of the program, may be empty. A heading, then one line a rule with a mark; cause and fix where there are any.
std::string check_table(Pid pid, const std::string& name, const std::vector<Check>& checks,
                        const recording::Style& style);

// The same without heading.
std::string check_lines(const std::vector<Check>& checks, const recording::Style& style);

// 0 where nothing is bad, else the exit status that attaching would end with.
int status_of(const std::vector<Check>& checks);

}  // namespace fade::cli::attach
