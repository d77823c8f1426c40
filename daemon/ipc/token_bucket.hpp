// A rate limit: so many per second, and a few more at once.
#pragma once
#include <algorithm>
#include <cstdint>

namespace fade::ipc {

class TokenBucket {
 public:
  TokenBucket(double per_second, double at_once) : rate_(per_second), most_(at_once), tokens_(at_once) {}

  // `now` in nanoseconds of a clock that never goes back.
  bool take(std::int64_t now) {
    tokens_ = tokens_at(now);
    last_ = now;
    if (tokens_ < 1) return false;
    tokens_ -= 1;
    return true;
  }
  bool full(std::int64_t now) const { return tokens_at(now) >= most_; }

 private:
  double tokens_at(std::int64_t now) const {
    return last_ == 0 ? tokens_ : std::min(most_, tokens_ + rate_ * static_cast<double>(now - last_) / 1e9);
  }

  double rate_, most_, tokens_;
  std::int64_t last_ = 0;
};

}  // namespace fade::ipc
