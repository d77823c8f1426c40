// Looks through the elements of a buffer: NaN, infinities, values outside of limits, the least and the greatest value,
// and a checksum of the bytes. Knows no processes: the bytes come in pieces, in order. Written for the vectoriser.
#pragma once
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>

#include "numbers/dtype.hpp"

namespace fade::numbers {

struct Limits {
  bool are_watched = false;
  double least = -std::numeric_limits<double>::infinity(), greatest = std::numeric_limits<double>::infinity();
};

struct Found {
  std::uint64_t elements = 0, nan = 0, inf = 0;
  std::uint64_t odd_nan = 0;  // of nan, those with other bits than hardware makes
  std::uint64_t outside = 0;  // finite values outside of the limits
  // The first of these elements: its place in the buffer, and its bits.
  std::optional<std::uint64_t> first;
  std::uint64_t first_bits = 0;
  std::optional<double> least, greatest;  // of the finite values, if limits are watched

  bool has_any() const { return nan + inf + outside > 0; }
  void add(const Found& later);
};

// The sorts of elements that are named as the first one.
struct Looked {
  bool nan = true, inf = true;
  Limits limits;
};

// Scans whole elements from the start of `bytes`, which may lie at any address; `at`: the place of the first one in the
// buffer. Bytes behind the last whole element are no element.
Found scan(Dtype type, const Looked& looked, std::span<const std::byte> bytes, std::uint64_t at = 0);

// A checksum of bytes for equality of buffers, not against malice.
class Checksum {
 public:
  // All pieces but the last are multiples of 32 bytes.
  void add(std::span<const std::byte> bytes);
  std::uint64_t value() const;

 private:
  std::uint64_t lanes_[4] = {0x60EA27EEADC0B5D6u, 0xC2B2AE3D27D4EB4Fu, 0, 0x61C8864E7A143579u};
  std::uint64_t size_ = 0;
};

}  // namespace fade::numbers
