// What fade-attach's command line says, as rows of options, and the checks that need no process.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "cli/options/program.hpp"
#include "cli/recording/options.hpp"
#include "supervisor/attach.hpp"
#include "supervisor/targets.hpp"

namespace fade::cli::attach {

struct Request : recording::Request {  // summary not said: yes
  AttachOptions options;               // the pids are found later, from `targets`
  TargetWish targets;
  bool daemon = false;    // attaches instead of us
  bool check = false;     // say whether attaching would work
  bool live_line = true;  // on a terminal

  std::vector<std::string> pid_words;         // -p as it was given
  std::optional<std::int64_t> duration_msec;  // rocprofv3's spelling of --duration
  std::optional<std::int64_t> control;        // descriptor of the daemon's socket
  std::vector<std::string> client_typed;      // options of the daemon's client
};

const Program& program();
std::vector<Option> rows(Request& request);

// Completes the request with the process ids that stand without -p and the environment's FADE_OUTPUT; an error is one
// of usage.
Result<void> finish(Request& request, const std::vector<std::string>& words, const char* default_output);

}  // namespace fade::cli::attach
