// Reads conditions: or, and, not, parentheses, comparisons.
#pragma once
#include <span>

#include "actions/condition.hpp"
#include "actions/words.hpp"

namespace fade::actions {

// Reads a condition from the first of `words` on, and takes its words out.
Result<Condition> parse_condition(std::span<const Word>& words, const Place& place);

}  // namespace fade::actions
