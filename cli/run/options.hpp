// What fade-run's command line says, as rows of options, and the checks that need no program.
#pragma once
#include <string>
#include <vector>

#include "base/result.hpp"
#include "cli/options/program.hpp"
#include "cli/recording/options.hpp"
#include "supervisor/run.hpp"

namespace fade::cli::run {

struct Request : recording::Request {  // summary not said: where stderr is a terminal
  RunOptions options;
  bool daemon = false;                // records, the program is still run here
  std::vector<std::string> ab;        // --ab, as it was written; the rules themselves are in options.ab_rules
  std::optional<std::int64_t> pairs;  // --pairs
  std::string push;                   // --push: the address of a ClickHouse server
  std::string push_user, push_password_file, push_ca;
  std::optional<std::int64_t> push_wait_ns;  // --push-wait
};

const Program& program();
std::vector<Option> rows(Request& request);

// Completes the request with the command and the environment's FADE_OUTPUT; an error is one of usage.
Result<void> finish(Request& request, std::vector<std::string> command, const char* default_output);

}  // namespace fade::cli::run
