// From the rules that count for one call, and the bytes that it left at its pointers, to the bytes that must be
// written. Touches nothing but what the rules name; a later rule wins over an earlier one, element by element.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/event.hpp"
#include "probes/overrides_paths.hpp"

namespace fade::probes {

struct Assignment {
  RuleId rule = 0;
  Target target;
  std::vector<std::byte> bytes;  // of the target's elements, as parse_value makes them
};

// Bytes that stand at a pointer parameter when the call returns; fewer than asked for where memory ends.
struct Found {
  std::uint8_t parameter = 0;
  std::span<const std::byte> bytes;
};

// A rule that was applied. Without bytes where the program was told the same anyway: a hit, and nothing to write.
struct Patch {
  RuleId rule = 0;
  int device = -1;
  std::uint8_t parameter = 0;
  std::uint32_t offset = 0;      // from where the parameter points to
  std::vector<std::byte> bytes;
  std::string field;             // "multiProcessorCount", "maxGridSize[2]", "attribute.WarpSize"
  std::string was, became;
};

// `active`: the assignments that this call tells, in the order of the rules. The patches must be written in their order.
std::vector<Patch> patches_of(const DevicePath& path, Arguments arguments, std::span<const Assignment* const> active,
                              std::span<const Found> found);

// How a rule's target is shown: "warpSize", "maxGridSize[2]", "attribute.WarpSize".
std::string target_name(const Target& target);

}  // namespace fade::probes
