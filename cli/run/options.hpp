// What fade-run's command line says, as rows of options, and the checks that need no program.
#pragma once
#include <optional>
#include <vector>

#include "base/result.hpp"
#include "cli/options/program.hpp"
#include "supervisor/run.hpp"

namespace fade::cli::run {

struct Request {
  RunOptions options;
  std::optional<bool> summary;  // of the end; not said: where stderr is a terminal
  bool force = false, append = false;
  bool dry_run = false;      // print the rules
  bool list_probes = false;  // print the catalogue
};

const Program& program();
std::vector<Option> rows(Request& request);

// Completes the request with the command and the environment's FADE_OUTPUT; an error is one of usage.
Result<void> finish(Request& request, std::vector<std::string> command, const char* default_output);

}  // namespace fade::cli::run
