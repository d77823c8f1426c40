// One run of a program, from its start to what is said at its end: what fade-run and fade-trace have in common.
#pragma once
#include "cli/options/program.hpp"
#include "cli/run/options.hpp"

namespace fade::cli::run {

// Runs request.options and says on standard error what there is to say. The status to end with; dies of the program's
// signal.
int supervise(const Request& request, const Invocation& invocation);

}  // namespace fade::cli::run
