// Times and sizes as users write them: 500ms, 30s, 1.5h; 512K, 2G.
#pragma once
#include <cstdint>
#include <string_view>

#include "base/result.hpp"

namespace fade {

Result<std::int64_t> parse_time(std::string_view text);   // nanoseconds; without a unit: seconds
Result<std::uint64_t> parse_size(std::string_view text);  // bytes; K M G T are powers of 1024

}  // namespace fade
