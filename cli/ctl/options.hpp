// What fadectl's command line says. What to record is said as for fade-attach, by the same rows.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "cli/options/program.hpp"
#include "cli/recording/options.hpp"
#include "ipc/json.hpp"

namespace fade::cli::ctl {

struct Settings {
  std::string socket;
  bool json = false, all = false;
  RecordingOptions recording;
  bool tree = false;
  recording::Request unused;  // what the shared rows point to besides
  std::string exe, cgroup;
  std::optional<std::int64_t> uid;
  std::optional<std::int64_t> older_ns;
  std::optional<std::uint64_t> keep_bytes;

  std::uint64_t keep_text = kNotSaid;  // where --keep-bytes goes; finish() makes keep_bytes of it
  static constexpr std::uint64_t kNotSaid = ~std::uint64_t{0};
};

const Program& program();
std::vector<Option> rows(Settings& settings);
Result<void> finish(Settings& settings);

// What was said about recording, as the daemon wants it; empty where nothing was.
ipc::Json recording_json(const Settings& settings);

}  // namespace fade::cli::ctl
