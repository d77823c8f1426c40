// /proc/TID/schedstat: the CPU time of a thread (Documentation/scheduler/sched-stats.rst).
#pragma once
#include <cstdint>
#include <optional>

#include "base/fd.hpp"

namespace fade {

// Sums since the thread began.
struct SchedTimes {
  std::int64_t ran_ns = 0;
  std::int64_t waited_ns = 0;  // for a CPU, while runnable
  std::uint64_t turns = 0;     // the number of times that it was given a CPU

  // nullopt: the file is not open, its thread is gone, or the text is no such file's.
  static std::optional<SchedTimes> read(const Fd& schedstat);
};

}  // namespace fade
