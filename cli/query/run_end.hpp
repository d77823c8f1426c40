// How a run ended, as far as fade saw it. A recording may begin after the program did, and end before it.
#pragma once
#include <cstdint>
#include <functional>
#include <string>

#include "cli/query/named_row.hpp"
#include "cli/query/recording.hpp"

namespace fade::query {

// "exit status 0 after 65.2 ms", "exit status 0, 3.76 s after fade came", "ran on when fade left after 2.00 s".
// `run`: a row of page_run.sql. `duration` writes nanoseconds.
std::string run_end(const NamedRow& run, const Recording& recording,
                    const std::function<std::string(std::int64_t)>& duration);

}  // namespace fade::query
