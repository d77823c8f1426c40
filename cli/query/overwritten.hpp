// What fade overwrote, in words: for each rule how often it changed what into what, and for each device what the
// runtime had answered. Texts come from a recording and are made printable here.
#pragma once
#include <string>
#include <vector>

#include "cli/query/command.hpp"

namespace fade::query {

struct RuleApplied {
  bool applied = false;
  std::string words;  // "device.*.multiProcessorCount=72: 4 times 36 -> 72, 4 times 48 -> 72"
};
// The first twenty rules, in the order in which they were given. `session`: NULL means all.
Result<std::vector<RuleApplied>> rules_applied(Recording& recording, const table::Value& session);

// "device 0: multiprocessors was 36"; empty where nothing was overwritten, and for recordings of a fade that did not
// say.
Result<std::vector<std::string>> answers_overwritten(Recording& recording, const table::Value& session);

}  // namespace fade::query
