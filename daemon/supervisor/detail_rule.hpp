// --schedule, --window, --trigger and --keep: when rows of calls are stored.
#pragma once
#include "base/recording.hpp"
#include "base/result.hpp"
#include "supervisor/recording_options.hpp"

namespace fade {

// At most one of the three is given. Errors have code EINVAL.
Result<DetailRule> parse_detail_rule(const RecordingOptions& options);

}  // namespace fade
