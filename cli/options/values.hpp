// Values with units as users write them: 500ms, 30s, 1.5h; 512K, 2G.
#pragma once
#include <cstdint>
#include <string_view>

#include "base/result.hpp"
#include "cli/options/option.hpp"

namespace fade::cli {

bool is_digits(std::string_view text);                    // one or more decimal digits, as of a process number
Result<std::int64_t> parse_time(std::string_view text);   // nanoseconds; without a unit: seconds
Result<std::uint64_t> parse_size(std::string_view text);  // bytes; K M G T are powers of 1024

// Puts what was given for one option, in the order given, where the row says.
Result<void> assign(const Option& option, const std::vector<std::string>& given);

}  // namespace fade::cli
