// Turns the rules that apply to one call, and the bytes at its pointers, into the bytes to write. Changes only bytes
// that rules name. A later rule wins over an earlier one, element by element.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/event.hpp"
#include "probes/overrides/paths.hpp"

namespace fade::probes {

struct Assignment {
  RuleId rule = 0;
  Target target;
  std::vector<std::byte> bytes;  // of the target's elements, in the form of parse_value
};

// Bytes at a pointer parameter when the call returns; fewer than asked for if memory ends earlier.
struct Found {
  std::uint8_t parameter = 0;
  std::span<const std::byte> bytes;
};

// A rule that was applied. Without bytes, the answer was already equal: a hit, and nothing to write.
struct Patch {
  RuleId rule = 0;
  int device = -1;
  std::uint8_t parameter = 0;
  std::uint32_t offset = 0;  // from where the parameter points to
  std::vector<std::byte> bytes;
  std::string field;  // "multiProcessorCount", "maxGridSize[2]", "attribute.WarpSize"
  std::string was, became;
};

// `active`: the assignments that this call answers, in the order of the rules. The patches must be written in their
// order.
std::vector<Patch> patches_of(const DevicePath& path, Arguments arguments, std::span<const Assignment* const> active,
                              std::span<const Found> found);

// The text of a rule's target: "warpSize", "maxGridSize[2]", "attribute.WarpSize".
std::string target_name(const Target& target);

}  // namespace fade::probes
