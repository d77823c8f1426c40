// Which functions of one program are called so often that a stop at each call costs too much. Pure.
#pragma once
#include <algorithm>
#include <cstdint>
#include <optional>
#include <unordered_map>

namespace fade {

class HotFunctions {
 public:
  static constexpr std::int64_t kWindow = 100'000'000;  // ns
  static constexpr std::uint32_t kCalls = 100;          // in one window, so 1,000 a second

  // A breakpoint of the function has stopped a thread at time `now`; a call has two. Returns the calls a second when
  // the function has become hot, and then no more until forget().
  std::optional<std::uint64_t> stopped(std::uint32_t function, std::int64_t now, std::int64_t window = kWindow);
  // The function, which is called `rate` times a second, becomes hot at its next stop.
  void want(std::uint32_t function, std::uint64_t rate) {
    functions_[function].wanted = std::max<std::uint64_t>(rate, 1);
  }
  // The calls a second that stopped() told; 0: it told none.
  std::uint64_t rate(std::uint32_t function) const;
  // The function is to be looked at again.
  void forget(std::uint32_t function) { functions_.erase(function); }

 private:
  struct Count {
    std::int64_t since = 0;
    std::uint32_t stops = 0;
    std::uint64_t rate = 0;    // that was told
    std::uint64_t wanted = 0;  // the rate of want(); 0: it is not wanted
  };
  std::unordered_map<std::uint32_t, Count> functions_;
};

}  // namespace fade
