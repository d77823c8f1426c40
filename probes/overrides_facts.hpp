// The facts about a device that a rule can set: every member of either form of hipDeviceProp_t and those that only
// other functions tell. One fact may be told by several functions; who tells it where is in overrides_paths.
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
  std::uint32_t count = 1;         // elements; of Bits: its bits
  std::uint32_t element_size = 4;  // bytes of one element in a rule's value; a bit takes one byte there
  bool in_bytes = false;           // an amount of bytes: 16G may be written
  int offset_r0000 = -1;           // in the struct, -1 where that form does not have it
  int offset_r0600 = -1;
};

// Lives as long as the program, so that pointers into it name facts.
std::span<const Fact> facts();
// By its name or by one that users know from elsewhere (computeUnits, total_memory); nullptr where there is none.
const Fact* find_fact(std::string_view name);
// Every name that find_fact knows.
std::vector<std::string> fact_names();
// What a user should know before setting it, empty for most.
std::string_view fact_remark(const Fact& fact);
// "warpSize", "maxGridSize[2]", "arch.hasDoubles".
std::string element_name(const Fact& fact, std::uint32_t element);

}  // namespace fade::probes
