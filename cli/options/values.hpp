// Values with units as users write them: 500ms, 30s, 1.5h; 512K, 2G.
#pragma once
#include <cstdint>
#include <string_view>

#include "base/result.hpp"
#include "cli/options/option.hpp"

namespace fade::cli {

bool is_digits(std::string_view text);  // one or more decimal digits, as of a process number

// Puts what was given for one option, in the order given, where the row says.
Result<void> assign(const Option& option, const std::vector<std::string>& given);

}  // namespace fade::cli
