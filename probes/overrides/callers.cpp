#include "probes/overrides/callers.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/glob.hpp"
#include "probes/overrides/spec.hpp"

namespace fade::probes {
namespace {

constexpr std::string_view kInternal[] = {
    "libamdhip64*",
    "libhiprtc*",
    "libamd_comgr*",
    "libhsa-runtime64*",
    "libcuda*",
    "libnvcuda*",
    "libMIOpen*",
    "librocblas*",
    "libhipblas*",
    "librocsolver*",  // libhipblas* includes libhipblaslt*
    // these multiply the count by the compute units of a work-group processor
    "liborigami*",
    "libTensile*",
    "libtensile*",
};

bool any_match(const std::vector<std::string>& patterns, const std::string& file) {
  return std::any_of(patterns.begin(), patterns.end(), [&](const std::string& p) { return glob_match(p, file); });
}

}  // namespace

Callers::Callers() : except_(std::begin(kInternal), std::end(kInternal)) {}

Result<Callers> Callers::parse(std::string_view text) {
  Callers named;
  named.except_.clear();
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    std::string_view pattern = trimmed(text.substr(at, comma - at));
    at = comma + 1;
    const bool excludes = pattern.starts_with('!');
    if (excludes) pattern = trimmed(pattern.substr(1));
    if (pattern.empty()) {
      return fail("", "the list of callers after '@' has an empty entry", "name libraries, e.g. @libtorch_hip*");
    }
    if (pattern.find('/') != std::string_view::npos) {
      return fail("", fmt::format("the caller '{}' has a folder in it", pattern),
                  "callers are file names, e.g. @libtorch_hip*");
    }
    (excludes ? named.except_ : named.only_).emplace_back(pattern);
  }
  if (named.only_.empty()) named.except_.insert(named.except_.end(), std::begin(kInternal), std::end(kInternal));
  return named;
}

bool Callers::match(const std::string& file) const {
  return (only_.empty() || any_match(only_, file)) && !any_match(except_, file);
}

std::string Callers::text() const {
  const std::string who = only_.empty() ? "every caller" : fmt::format("{}", fmt::join(only_, ", "));
  return except_.empty() ? who : fmt::format("{} but {}", who, fmt::join(except_, ", "));
}

}  // namespace fade::probes
