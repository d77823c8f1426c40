// How often the rings of taps are read: so often that none becomes full, as long as records come. A full ring stops its
// thread. Without records the usual tick is enough. Pure.
#pragma once
#include <algorithm>
#include <chrono>
#include <cstdint>

namespace fade {

class DrainPace {
 public:
  using Period = std::chrono::milliseconds;
  static constexpr Period kLongest{10}, kShortest{2};

  // The rings were read. `unread`: the most bytes that one of them gave since the last time, of `size`. Returns when
  // they are to be read again; zero: at the usual tick.
  Period next(std::uint64_t unread, std::uint64_t size) {
    quiet_ = unread == 0 ? quiet_ + 1 : 0;
    if (quiet_ >= kPatience) return period_ = Period::zero();
    if (unread == 0) return period_;
    if (period_ == Period::zero()) period_ = kLongest;
    if (unread > size / 2) period_ /= 2;
    else if (unread < size / 8) period_ *= 2;
    return period_ = std::clamp(period_, kShortest, kLongest);
  }

 private:
  static constexpr int kPatience = 20;  // times without a record

  int quiet_ = kPatience;
  Period period_{};
};

}  // namespace fade
