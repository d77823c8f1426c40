// The settings from faded's command line.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "cli/options/program.hpp"
#include "faded/metrics_server.hpp"

namespace fade::service {

struct Settings {  // one command line: a field is the value of one option, or follows from it
  std::string socket, state_dir, worker;
  std::string socket_mode = "0600";
  std::string metrics_listen, metrics_mode = "0600";
  std::string push, push_user, push_password_file, push_ca;
  std::optional<std::int64_t> most_sessions, most_sessions_per_user;
  std::vector<std::string> allowed_users;
  bool check_config = false;

  // finish() computes these members.
  unsigned mode = 0600, mode_of_metrics = 0600;
  std::optional<MetricsAddress> metrics;
  std::vector<unsigned> allowed_uids;
  std::vector<std::string> push_words;  // of the command that sends a recording
};

const cli::Program& program();
std::vector<cli::Option> rows(Settings& settings);

// Fills in missing settings, and makes every path absolute. An Error is a usage error.
Result<void> finish(Settings& settings);

}  // namespace fade::service
