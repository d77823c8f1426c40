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

// `block` is written if a summary is wanted; otherwise each of `sentences` is a message.
void say_ended(bool wants_summary, ColorWish color, const std::function<std::string(const Style&)>& block,
               const std::vector<std::string>& sentences);

// Leaves helpers out of the counts of processes and threads, as the report processes does. Changes nothing if the
// recording cannot be read.
void fold_helpers(RunSummary& summary);

// The rows of the headline: the fault, the user's own line, the command that tells more. Both are empty if there is no
// fault, and if the recording cannot be read.
struct Trouble {
  std::string text;                    // for a terminal
  std::vector<std::string> sentences;  // for a log: each makes sense by itself
};
// `tells_verdict`: the verdict follows on a page of its own, so rows that it tells are left out.
Trouble trouble_of(const std::string& database, ColorWish color, bool tells_verdict);

// --summary=libraries: the calls by library and API, on stderr.
void say_libraries(const std::string& database, ColorWish color);

// --verdict: what fade-query verdict says about the recording, on stderr.
void say_verdict(const std::string& database, ColorWish color);

// --page: what fade-query page writes, in a file beside the recording. Another file of that name stays, unless
// `replace`.
void write_page(const std::string& database, bool replace);

// What fade-query postmortem says about the recording, on stdout. False where it cannot be said; why is logged.
bool print_postmortem(const std::string& database, ColorWish color);

}  // namespace fade::cli::recording
