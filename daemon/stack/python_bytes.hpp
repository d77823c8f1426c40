// Reads copied bytes of the interpreter's memory. None of them is trusted.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace fade {

// 0 beyond the end.
template <class T>
T bytes_at(std::span<const std::byte> bytes, std::size_t offset) {
  T out{};
  if (offset + sizeof out <= bytes.size()) std::memcpy(&out, bytes.data() + offset, sizeof out);
  return out;
}

// True if the value may be a pointer to an object.
constexpr bool plausible(std::uint64_t pointer) { return pointer != 0 && pointer % 8 == 0 && pointer >> 47 == 0; }

}  // namespace fade
