// Starts a command beside fade, as fade's user: no child of the program and none that fade waits for. It has no input,
// and writes where fade writes.
#pragma once
#include <string>
#include <vector>

#include "base/pid.hpp"
#include "base/result.hpp"

namespace fade {

// `more`: variables besides fade's own, NAME=VALUE. Returns when the command runs, or could not be run.
Result<Pid> run_beside(const std::vector<std::string>& command, const std::vector<std::string>& more);

}  // namespace fade
