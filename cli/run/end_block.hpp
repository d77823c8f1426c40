// What fade-run says when the program has ended. Pure text: knows neither terminal nor process.
#pragma once
#include <string>

#include "cli/recording/end_block.hpp"
#include "supervisor/run.hpp"

namespace fade::cli::run {

using recording::must_say;
using recording::Style;

// `trouble`: the rows of the headline (trouble_of()); empty where nothing is wrong.
std::string end_block(const RunOutcome& outcome, const Style& style, const std::string& trouble = {});

}  // namespace fade::cli::run
