// The order in which reports and commands are listed: by the question that they answer.
#pragma once
#include <vector>

#include "cli/options/program.hpp"

namespace fade::query {

// All words that fade-query knows, with the question as their group.
std::vector<cli::Named> words_by_question();

}  // namespace fade::query
