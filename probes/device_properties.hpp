// The two binary forms of hipDeviceProp_t, and their bytes as names and text. Pure data and functions, without
// knowledge of the source of the bytes. The symbol that was called decides the form, never the version of the library.
// ROCm 6 and 7 still export the unsuffixed name with the old form beside the new one.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fade::probes {

enum class FieldType : std::uint8_t {
  Text,      // char[n], NUL-terminated
  Bytes,     // hipUUID, char[8] luid: shown as hexadecimal digits
  Int,       // int
  Unsigned,  // unsigned int
  Size,      // size_t
  Pointer,   // an address; not read
  Bits,      // hipDeviceArch_t: one-bit members in 32 bits
};

struct PropertyField {
  std::string_view name;
  FieldType type = FieldType::Int;
  std::uint32_t count = 1;   // elements of an array; 1 for everything else, Text and Bytes too
  std::uint32_t offset = 0;  // bytes from the beginning of the struct
  std::uint32_t size = 0;    // bytes of all elements

  std::uint32_t element_size() const { return size / count; }
};

struct Layout {
  std::string_view name;   // hipDeviceProp_tR0600
  std::uint32_t size = 0;  // bytes
  std::span<const PropertyField> fields;

  const PropertyField* find(std::string_view field) const;  // nullptr if the layout has no such member
};

const Layout& layout_r0000();
const Layout& layout_r0600();

// Names of the members of hipDeviceArch_t; the index is the bit.
std::span<const std::string_view> arch_bit_names();

// A value as text. Arrays are [a,b,c]. In texts, bytes that are not printable UTF-8 are escaped as \xNN.
std::string text_of(FieldType type, std::uint32_t count, std::span<const std::byte> bytes);
std::string escaped(std::string_view text);

struct Property {
  std::string name;  // "warpSize", "arch.hasDoubles"
  std::string value;
};
// Every member that lies completely within `bytes`. Reserved members are left out if they are zero.
std::vector<Property> decode(const Layout& layout, std::span<const std::byte> bytes);

}  // namespace fade::probes
