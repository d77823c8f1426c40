// What fade-run says when the program has ended. Pure text: knows neither terminal nor process.
#pragma once
#include <string>

#include "cli/recording/end_block.hpp"
#include "supervisor/run.hpp"

namespace fade::cli::run {

using recording::must_say;
using recording::Style;

std::string end_block(const RunOutcome& outcome, const Style& style);

}  // namespace fade::cli::run
