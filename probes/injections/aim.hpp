// From the words of a rule to one function's parameters: places, conditions, replacements, errors.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "probes/injections/rule.hpp"
#include "probes/injections/text.hpp"

namespace fade::probes {

// The place that NAME or NAME.x means in calls of the function; "result" is the result. nullopt: it has none of that
// name, or its value is no number.
std::optional<ValuePlace> place_named(const Probe& probe, std::string_view name);
// All names that place_named() knows for the function.
std::vector<std::string> place_names(const Probe& probe);

// The value at a place of a call; nullopt if it was not read.
std::optional<std::uint64_t> value_at(const Probe& probe, const ValuePlace& place, const CallRecord& record,
                                      std::span<const std::byte> payload);

// An error has a cause and a fix, and no message yet.
Result<ArgumentTest> test_of(const Probe& probe, const ValuePlace& place, const RulePart& part);
Result<Replacement> replacement_of(const Probe& probe, std::string_view name, std::string_view value);

}  // namespace fade::probes
