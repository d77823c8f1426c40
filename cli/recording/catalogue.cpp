#include "cli/recording/catalogue.hpp"

#include <fmt/format.h>

#include "probes/listing.hpp"
#include "supervisor/preparation.hpp"

namespace fade::cli::recording {

Result<std::vector<std::string>> catalogue(const RecordingOptions& options) {
  const auto chosen = choose_probes(options);
  if (!chosen) return tl::unexpected(chosen.error());
  std::vector<std::string> lines;
  for (const probes::ListedProbe& probe : probes::list_probes(chosen->known, chosen->selection))
    if (probe.on)
      lines.push_back(
          fmt::format("{:<10} {}{}{}", probe.group, probe.prototype, probe.memory.empty() ? "" : " ", probe.memory));
  return lines;
}

}  // namespace fade::cli::recording
