// Which comparisons of a condition can hold at all: a time is no text, and an enum has only its own names.
#pragma once
#include <span>

#include "actions/condition.hpp"
#include "actions/words.hpp"
#include "base/result.hpp"
#include "probes/probe.hpp"

namespace fade::actions {

// Fails for a comparison that holds for no call of these functions. All names in the condition are known.
Result<void> check_kinds(const Condition& condition, std::span<const probes::Probe* const> functions,
                         const Place& place);

}  // namespace fade::actions
