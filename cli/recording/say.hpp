// How a recording program says what it was asked for, and how it ended: to stdout and to stderr.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "cli/options/color.hpp"
#include "cli/recording/end_block.hpp"

namespace fade::cli::recording {

// Lines that were asked for instead of a recording are results and go to stdout. The status to end with, `failure`
// where they cannot be written.
int print(const Result<std::vector<std::string>>& lines, int failure);

// `block` is written where a summary is wanted; otherwise `sentences` are messages.
void say_ended(bool wants_summary, ColorWish color, const std::function<std::string(const Style&)>& block,
               const std::vector<std::string>& sentences, const std::string& trouble = {});

// The rows of the headline, as text for stderr: what went wrong, your own line, the command that tells more. Empty
// where nothing is wrong, and where the recording cannot be read.
std::string trouble_text(const std::string& database, ColorWish color);

// --verdict: what fade-query verdict says about the recording, on stderr.
void say_verdict(const std::string& database, ColorWish color);

// What fade-query postmortem says about the recording, on stdout. False where it cannot be said; why is logged.
bool print_postmortem(const std::string& database, ColorWish color);

}  // namespace fade::cli::recording
