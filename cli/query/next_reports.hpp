// The reports to read next: those that have rows for this recording.
#pragma once
#include <string_view>
#include <vector>

#include "cli/query/recording.hpp"
#include "cli/table/value.hpp"

namespace fade::query {

struct NextReport {
  std::string_view report, why;
};
// At most five, the most useful first. `session`: NULL means all.
Result<std::vector<NextReport>> next_reports(Recording& recording, const table::Value& session);

}  // namespace fade::query
