// Reads runs of equal records from foreign memory. Unreadable records are missing at the end. The caller gives the
// limit, because the count usually comes from the same untrusted memory.
#pragma once
#include <algorithm>
#include <limits>
#include <span>
#include <vector>

#include "base/remote.hpp"

namespace fade::elf {

template <class T>
requires std::is_trivially_copyable_v<T> std::vector<T> read_array(const Memory& memory, RemoteAddr from,
                                                                   std::uint64_t count, std::uint64_t cap) {
  const std::uint64_t room = (std::numeric_limits<std::uint64_t>::max() - from.value) / sizeof(T);
  std::vector<T> out(static_cast<std::size_t>(std::min({count, cap, room})));
  if (out.empty()) return out;
  const std::size_t got = memory.read(from, std::as_writable_bytes(std::span(out)));
  out.resize(got / sizeof(T));
  return out;
}

}  // namespace fade::elf
