#include "session/hot_functions.hpp"

#include <algorithm>

namespace fade {

std::optional<std::uint64_t> HotFunctions::stopped(std::uint32_t function, std::int64_t now) {
  constexpr std::uint32_t kStopsOfACall = 2;
  Count& count = functions_[function];
  if (count.is_told) return std::nullopt;
  if (count.stops == 0 || now - count.since > kWindow) count = {.since = now};
  if (++count.stops < kStopsOfACall * kCalls) return std::nullopt;
  count.is_told = true;
  const std::int64_t passed = std::max<std::int64_t>(now - count.since, 1);
  return std::uint64_t{kCalls} * 1'000'000'000 / static_cast<std::uint64_t>(passed);
}

}  // namespace fade
