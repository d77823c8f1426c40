// --watch-numbers: the numbers that are looked for in copied buffers, and its limits.
#pragma once
#include <cstdint>
#include <string_view>

#include "base/result.hpp"
#include "numbers/scan.hpp"

namespace fade::numbers {

struct WatchRule {
  Looked looked{.nan = false, .inf = false, .limits = {}};
  bool checksum = false;
  std::uint64_t every = 1;                                  // sample=N: of the copies of a place
  Dtype dtype = Dtype::Unknown;                             // Unknown: guessed for each buffer
  std::uint64_t bytes_per_second = std::uint64_t{1} << 30;  // rate=
  std::uint64_t most_bytes = std::uint64_t{16} << 20;       // most=: of one copy

  bool is_on() const { return looks_at_elements() || checksum; }
  bool looks_at_elements() const { return looked.nan || looked.inf || looked.limits.are_watched; }
};

// "nan,inf,range=-1..1,checksum,sample=10,dtype=f32,rate=1G,most=16M". Empty: off.
Result<WatchRule> parse_watch_rule(std::string_view text);

}  // namespace fade::numbers
