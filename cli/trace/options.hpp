// What fade-trace's command line says: the options of a recording, and how its lines look.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "cli/attach/options.hpp"
#include "cli/run/options.hpp"
#include "live/trace_lines.hpp"

namespace fade::cli::trace {

struct Request : recording::Request {
  RecordingOptions options;
  std::vector<std::string> pid_words;  // -p
  std::vector<std::string> words;      // a command, or process ids
  std::string lines_to;                // -o; empty: standard error
  bool failures_only = false;
  int stamps = 0;  // how often -t was given
  std::optional<std::int64_t> longest;

  // Process ids alone: watch these; otherwise run the command.
  bool attaches() const;
};

const Program& program();
std::vector<Option> rows(Request& request);

// An error is one of usage.
Result<void> finish(Request& request, std::vector<std::string> words);
Result<run::Request> run_request(const Request& request, const char* default_output);
Result<attach::Request> attach_request(const Request& request, const char* default_output);
// All but the colour.
live::TraceManner manner(const Request& request);

}  // namespace fade::cli::trace
