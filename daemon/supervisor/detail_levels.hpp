// --detail as users write it: a level, or a list with levels of groups.
#pragma once
#include <string>
#include <vector>

#include "base/detail_levels.hpp"
#include "base/result.hpp"

namespace fade {

// Errors are of usage (EINVAL). An empty text is the default. `probe_files`: of --probes, for groups of their own.
Result<DetailLevels> parse_detail(const std::string& text, const std::vector<std::string>& probe_files);

}  // namespace fade
