#include "session/hot_functions.hpp"

#include <algorithm>
#include <utility>

namespace fade {

std::optional<std::uint64_t> HotFunctions::stopped(std::uint32_t function, std::int64_t now, std::int64_t window) {
  constexpr std::uint32_t kStopsOfACall = 2;
  Count& count = functions_[function];
  if (count.rate != 0) return std::nullopt;
  if (count.wanted != 0) return count.rate = std::exchange(count.wanted, 0);
  if (count.stops == 0 || now - count.since > window) count = {.since = now};
  if (++count.stops < kStopsOfACall * kCalls) return std::nullopt;
  const std::int64_t passed = std::max<std::int64_t>(now - count.since, 1);
  return count.rate = std::uint64_t{kCalls} * 1'000'000'000 / static_cast<std::uint64_t>(passed);
}

std::uint64_t HotFunctions::rate(std::uint32_t function) const {
  const auto it = functions_.find(function);
  return it == functions_.end() ? 0 : it->second.rate;
}

}  // namespace fade
