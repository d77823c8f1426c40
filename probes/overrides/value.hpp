// The text of a rule's value as bytes for the program's memory. Checks type and range; errors name the allowed range.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "probes/device_properties.hpp"

namespace fade::probes {

struct ValueShape {
  std::string name;  // for messages: "maxGridSize"
  FieldType type = FieldType::Int;
  std::uint32_t count = 1;         // elements that must be given
  std::uint32_t element_size = 4;  // of Bits: 1, each bit becomes a byte
  bool in_bytes = false;           // K, M, G and T are allowed
};

// count * element_size bytes. Text is filled up with NULs.
Result<std::vector<std::byte>> parse_value(const ValueShape& shape, std::string_view text, bool quoted);

// 0000:0b:00.0
struct PciAddress {
  std::int32_t domain = 0, bus = 0, device = 0, function = 0;
  std::string text() const;
};
Result<PciAddress> parse_pci_address(std::string_view text);

}  // namespace fade::probes
