// The sentences of the page of ranks: what the job is, which rank failed first, which one makes the others wait, and
// what is distributed unevenly.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "cli/query/command.hpp"

namespace fade::query {

// Label and sentence. Nothing to say: no sentence.
using RankLines = std::vector<std::pair<std::string, std::string>>;

Result<RankLines> rank_lines(const Context& context, Recording& recording);
// Which rank took longest for its steps, and the step with the greatest difference; empty if no step can be compared.
Result<RankLines> rank_step_lines(const Context& context, Recording& recording);

}  // namespace fade::query
