#include "stack/call_instruction.hpp"

#include <algorithm>

namespace fade {

bool ends_with_call(std::span<const std::byte> code) {
  const auto from_end = [&](std::size_t n) { return std::to_integer<unsigned>(code[code.size() - n]); };
  if (from_end(5) == 0xE8) return true;
  return std::ranges::any_of(std::array{2, 3, 4, 6, 7},
                             [&](std::size_t n) { return from_end(n) == 0xFF && (from_end(n - 1) >> 3 & 7) == 2; });
}

bool is_behind_call(const Memory& memory, RemoteAddr pc) {
  std::array<std::byte, kLongestCall> code{};
  return memory.read_exactly(pc - code.size(), code) && ends_with_call(code);
}

}  // namespace fade
