// --budget: what fade may cost the program.
#pragma once
#include <optional>
#include <string_view>

#include "base/recording.hpp"
#include "base/result.hpp"

namespace fade {

// "3%" or "3": a share of the program's time, 0.03. Nothing, or "off": 0. Errors have code EINVAL.
Result<double> parse_budget(std::string_view text);
// The engine that is used: with a budget, a function that is called often must not stop at each call.
// `usual`: where the user has not chosen. Fails if the choice leaves nothing to save.
Result<CaptureEngine> engine_for(std::optional<CaptureEngine> chosen, CaptureEngine usual, double budget);

}  // namespace fade
