// The duration of a call without fade's own part, as reports have it (view call_stats).
#pragma once
#include <cstdint>
#include <string>

#include "base/event.hpp"
#include "base/least_duration.hpp"

namespace fade::live {

class CallTime {
 public:
  void on(const Notice& notice);

  // In ns; 0: less than can be measured. A call that a tap recorded has no stops in it.
  std::int64_t of(const CallRecord& record) const;
  // "12.3 us", "~0"
  std::string text(const CallRecord& record, bool utf8) const;

 private:
  std::int64_t own_ns_ = 0;  // of each call with stops; 0: not measured
  LeastDuration least_;
};

}  // namespace fade::live
