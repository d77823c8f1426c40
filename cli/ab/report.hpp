// What a comparison came to, in words. Pure text: knows neither terminal nor process.
#pragma once
#include <string>
#include <vector>

#include "cli/ab/series.hpp"
#include "cli/recording/end_block.hpp"

namespace fade::cli::ab {

using recording::Style;

// `rules` are those that only the one side had. No line is longer than 80 columns, but for names that cannot be cut.
std::string report(const Series& series, const std::vector<std::string>& rules, const Style& style);

// "1.23 s, exit status 0"
std::string run_line(const Figures& figures, const Style& style);

// The status to end with: 0, or that of the first run that failed, 128 + N for signal N.
int exit_status(const Series& series);

}  // namespace fade::cli::ab
