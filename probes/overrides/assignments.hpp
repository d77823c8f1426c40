// A rule's field and value as bytes for answers: `device.0.pciBusId=...` sets four facts, other rules one.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "probes/overrides/patch.hpp"
#include "probes/overrides/spec.hpp"

namespace fade::probes {

using Assignments = std::vector<Assignment>;

// At least one assignment, each without the id of its rule. An error says which field or value is wrong, and has no
// message yet.
Result<Assignments> assignments_of(const Spec& spec);

// The name of the fact that the target sets, also as an attribute; empty if no fact is known.
std::string_view fact_name(const Target& target);

// The first number in `bytes`, of 4 bytes with its sign; of a wider one only whether it is above 0: 1 or 0.
std::int64_t element(std::span<const std::byte> bytes, std::size_t width);

}  // namespace fade::probes
