// A limit of bytes per second: bytes that were not used in the last second may be used at once.
#pragma once
#include <algorithm>
#include <cstdint>

namespace fade::numbers {

class ByteRate {
 public:
  explicit ByteRate(std::uint64_t per_second) : per_second_(per_second), left_(per_second) {}

  // False: so many bytes are too many at the time `now` (nanoseconds).
  bool take(std::uint64_t bytes, std::int64_t now) {
    const std::int64_t passed = std::clamp<std::int64_t>(now - last_, 0, kSecond);
    const auto earned = static_cast<std::uint64_t>(static_cast<unsigned __int128>(per_second_) * passed / kSecond);
    last_ = std::max(last_, now);
    left_ = std::min(per_second_, left_ + earned);
    if (bytes > left_) return false;
    left_ -= bytes;
    return true;
  }

 private:
  static constexpr std::int64_t kSecond = 1'000'000'000;
  const std::uint64_t per_second_;
  std::uint64_t left_;
  std::int64_t last_ = 0;
};

}  // namespace fade::numbers
