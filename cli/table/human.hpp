// Numbers as a person reads them. Only tables use these.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "base/human.hpp"
#include "cli/table/kind.hpp"

namespace fade::table {

std::string human_duration(std::int64_t ns, Units units, bool utf8);  // "12.3 µs"
std::string human_time(std::int64_t ns, Units units);                 // "1.234567 s" since the start of the session
using fade::human_bytes;
using fade::human_count;
using fade::kBelowMeasure;
// "1 call", "2,000 calls", "3 launches". Without `several`, an s is added to `one`.
std::string human_counted(std::int64_t n, std::string_view one, std::string_view several = {});
std::string short_count(double n);  // 999, 4.1k, 41k, 2.3M
// RFC 3339 in UTC with nanoseconds, from nanoseconds since 1970.
std::string wall_clock(std::int64_t epoch_ns);

}  // namespace fade::table
