#include "supervisor/gpu_times.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>

namespace fade {
namespace {

// Of HIP 6 and later, and of HIP 5.
constexpr std::array<std::string_view, 2> kForcesTimes{"GPU_FORCE_QUEUE_PROFILING", "HIP_FORCE_QUEUE_PROFILING"};

bool forces_times(std::string_view variable) {
  const std::size_t equals = std::min(variable.find('='), variable.size());
  const std::string_view value = variable.substr(std::min(equals + 1, variable.size()));
  return std::ranges::find(kForcesTimes, variable.substr(0, equals)) != kForcesTimes.end() && !value.empty() &&
         value != "0";
}

}  // namespace

std::vector<std::string> with_gpu_times(const std::vector<std::string>& changes) {
  std::vector<std::string> out;
  for (const std::string_view name : kForcesTimes) out.push_back(fmt::format("{}=1", name));
  out.insert(out.end(), changes.begin(), changes.end());
  return out;
}

// A process with an environment that cannot be read is refused later, or passed for its others.
Result<void> check_gpu_times(std::span<const Pid> pids, const ProcFiles& proc) {
  bool is_known = false;
  for (const Pid pid : pids) {
    const auto variables = proc.texts(pid, "environ");
    is_known |= !variables.empty();
    if (std::ranges::any_of(variables, forces_times)) return {};
  }
  if (!is_known || pids.empty()) return {};
  return fail(
      fmt::format("--gpu-times: process {} was started without {}=1", pids.front(), kForcesTimes[0]),
      "HIP reads it once, when the program starts, and asks for no times without it",
      fmt::format("start the program with: fade-run --gpu-times -- COMMAND, or with {}=1 {}=1 in its environment",
                  kForcesTimes[0], kForcesTimes[1]),
      EINVAL);
}

}  // namespace fade
