// What fade-run says when the program has ended. Pure text: knows neither terminal nor process.
#pragma once
#include <string>

#include "supervisor/run.hpp"

namespace fade::cli::run {

struct Style {
  bool color = false;
  bool utf8 = false;
};

std::string end_block(const RunOutcome& outcome, const Style& style);

// What has to be said even where no summary is wanted: notes and losses, one sentence each.
std::vector<std::string> must_say(const RunSummary& summary);

}  // namespace fade::cli::run
