// What fade-doctor prints. Pure text: knows neither terminal nor machine.
#pragma once
#include <string>
#include <vector>

#include "cli/recording/end_block.hpp"
#include "doctor/check.hpp"

namespace fade::cli::doctor {

using fade::doctor::Line;
using recording::Style;

struct Totals {
  int problems = 0, warnings = 0;
};
Totals totals_of(const std::vector<Line>& lines);

// A line a check under headings, the fix below; then the totals. `title`: what was examined.
std::string page(const std::string& title, const std::vector<Line>& lines, const Style& style);
std::string json(const std::string& title, const std::vector<Line>& lines);

// 0 if there is no problem; 1 otherwise. `strict`: a warning counts as a problem.
int status_of(const Totals& totals, bool strict);

}  // namespace fade::cli::doctor
