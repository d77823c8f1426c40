// Call instructions in machine code: a return address is behind one. Pure.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/remote.hpp"

namespace fade {

inline constexpr std::size_t kLongestCall = 7;  // bytes

// True if the bytes end with a call: E8 rel32, or FF /2 with any form of address. At least kLongestCall bytes.
bool ends_with_call(std::span<const std::byte> code);
// True if a call ends at `pc` in `memory`.
bool is_behind_call(const Memory& memory, RemoteAddr pc);

}  // namespace fade
