// What fade cost the programs of a recording, in a sentence.
#pragma once
#include <string>

#include "cli/query/recording.hpp"

namespace fade::query {

// "about 4x: 20,001 calls x 15.0 us = 300 ms of 400 ms" (cli/table/slowdown.hpp); empty where nothing was stopped.
// `session`: a number, or NULL for the newest one. `life_so_far`: of a program that runs, whose end is unknown; 0:
// none.
Result<std::string> overhead_line(Recording& recording, const table::Value& session, bool utf8,
                                  std::int64_t life_so_far = 0);

}  // namespace fade::query
