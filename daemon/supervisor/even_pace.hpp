// When something that happens at a rate is due. Moments keep to a grid: a look that comes a little early costs a
// moment, not a whole period.
#pragma once
#include <cstdint>

namespace fade {

class EvenPace {
 public:
  explicit EvenPace(std::int64_t period_ns) : period_(period_ns) {}

  // `now`: nanoseconds, ascending. True: a moment has come since the last true. Moments that were missed are not made
  // up.
  bool is_due(std::int64_t now) {
    if (now < next_) return false;
    next_ = now - next_ < period_ ? next_ + period_ : now + period_;
    return true;
  }

 private:
  std::int64_t period_, next_ = 0;
};

}  // namespace fade
