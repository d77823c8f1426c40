// One typed value from its bytes, as text or as JSON. Knows no calls.
#pragma once
#include <cstddef>
#include <span>
#include <string>

#include "probes/text.hpp"
#include "probes/types.hpp"

namespace fade::probes {

struct Display {
  const Types& types;
  Version version = kNewest;
  Style style = Style::Text;
};

// Numbers and flags in full, addresses and handles in hex, enums by name, structs field by field if known.
void append_value(std::string& out, const Type& type, std::span<const std::byte> bytes, const Display& display);

// The whole elements in the bytes: characters as text up to a NUL, bytes in hex, others as a list.
void append_elements(std::string& out, const Type& element, std::span<const std::byte> bytes, const Display& display);

// The low bytes of a value, zero-extended; at most 8.
std::uint64_t load_word(std::span<const std::byte> bytes);

}  // namespace fade::probes
