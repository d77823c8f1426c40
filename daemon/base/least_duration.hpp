// The shortest mean duration of calls that can be told from fade's own cost in this session.
#pragma once
#include <algorithm>
#include <cstdint>

#include "base/event.hpp"

namespace fade {

class LeastDuration {
 public:
  void measured(const CostMeasured& cost) {
    if (cost.calls == 0) return;
    if (cost.form == "jump") {
      here_ns_ = cost.call_ns;
      spread_ns_ = cost.call_spread_ns;
    }
    if (cost.form == "apart") apart_ns_ = cost.call_ns;
  }
  void stopped(const ThreadCost& cost) {
    stops_ += cost.stops;
    crossed_ += cost.crossed;
  }

  // In ns; 0: nothing was measured. A session's calls come after pauses, so they cost up to a fourth more than those of
  // the measuring child. A stop that crosses CPUs costs much more. The share of these stops is an estimate, and a
  // function's own share may be twice as large.
  std::int64_t ns() const {
    if (here_ns_ == 0) return 0;
    const double share =
        stops_ > 0 ? std::min(2.0 * static_cast<double>(crossed_) / static_cast<double>(stops_), 1.0) : 0;
    const double crossing = share * static_cast<double>(std::max<std::int64_t>(apart_ns_ - here_ns_, 0));
    return std::max<std::int64_t>(spread_ns_ + here_ns_ / 4 + static_cast<std::int64_t>(crossing), 1);
  }

 private:
  std::int64_t here_ns_ = 0, spread_ns_ = 0, apart_ns_ = 0;  // of a call, by CostMeasured::form
  std::uint64_t stops_ = 0, crossed_ = 0;
};

}  // namespace fade
