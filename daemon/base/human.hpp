// Numbers as a person reads them: the one form of sizes and durations in messages, pages and tables.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace fade {

// For a time that fade's own cost leaves nothing of.
inline constexpr std::string_view kBelowMeasure = "~0";

std::string human_bytes(std::int64_t bytes);             // "1.50 GiB"
std::string human_count(std::int64_t n);                 // "1,234,567"
std::string human_duration(std::int64_t ns, bool utf8);  // "12.3 µs", "2 min 21 s"
std::string human_ratio(double x);                       // "1.02", "11.8", "5,114"

}  // namespace fade
