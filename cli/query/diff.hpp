// The forms of fade-query diff besides the usual one.
#pragma once
#include <string>

#include "base/result.hpp"
#include "cli/query/command.hpp"

namespace fade::query {

// --numbers: of the newest session of each recording.
Result<void> compare_numbers(Context& context, const std::string& before_path, const std::string& after_path);

}  // namespace fade::query
