// Runs a program alternately without and with rules. Each run gets the same: a standard output that is a file, and a
// standard input that is at the same place of the same file, or empty. Its standard error and terminal are ours.
#pragma once
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "cli/ab/figures.hpp"
#include "supervisor/run.hpp"

namespace fade::cli::ab {

struct Series {
  std::vector<Figures> runs;  // in the order in which they ran: two of a pair side by side, the first of a pair changes
  std::size_t pairs = 0;      // that were wanted
  std::string database;       // with a session for each run
  std::optional<RunOutcome> stopped;  // the run that the user ended, and the series with it; not in `runs`
};

using OnRun = std::function<void(const Figures& figures, std::size_t done, std::size_t all)>;

// `options.ab_rules` are the rules of the runs with them. Errors as those of run(); what runs had come to before one is
// lost, their sessions are not.
Result<Series> run_series(const RunOptions& options, std::size_t pairs, const OnRun& on_run);

// Whether run `index` (from 0) is one with rules: without, with, with, without, without, with ... so that what drifts
// evenly favours neither.
bool has_rules(std::size_t index);

}  // namespace fade::cli::ab
