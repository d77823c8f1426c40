// The facts about a device that a rule can set: every member of either form of hipDeviceProp_t, and facts that only
// other functions give. Several functions may give one fact; overrides_paths.hpp says which functions and where.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "probes/device_properties.hpp"

namespace fade::probes {

struct Fact {
  std::string_view name;  // as in the header: warpSize
  FieldType type = FieldType::Int;
  std::uint32_t count = 1;         // elements; for Bits: its bits
  std::uint32_t element_size = 4;  // bytes of one element in a rule's value; a bit takes one byte there
  bool in_bytes = false;           // an amount of bytes: 16G is allowed
  int offset_r0000 = -1;           // in the struct, -1 if that form lacks the fact
  int offset_r0600 = -1;
};

// The facts live as long as the program, so pointers into the span are valid as identities.
std::span<const Fact> facts();
// The fact with this name or alias (computeUnits, total_memory); nullptr if there is none.
const Fact* find_fact(std::string_view name);
// Every name that find_fact knows.
std::vector<std::string> fact_names();
// A remark for users who set this fact; empty for most facts.
std::string_view fact_remark(const Fact& fact);
// "warpSize", "maxGridSize[2]", "arch.hasDoubles".
std::string element_name(const Fact& fact, std::uint32_t element);

}  // namespace fade::probes
