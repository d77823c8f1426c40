// Samples of what stops cost in the program itself, beyond the time for which the tracer holds the thread: the kernel
// switches between both, and both may wait for a CPU. The measuring child (stop_cost.hpp) knows neither the load of the
// machine nor the pauses between the program's calls. Tracing thread only.
//
// A sample is a block of stops of one thread. Its time is that from each request to resume the thread to its next stop,
// less the time for which the thread ran. What the thread itself runs for a stop is not in it (StopCosts::run_ns). Only
// a block in which the thread was given a CPU once for each stop counts: the thread waited for nothing else, and no
// other thread took its CPU.
#pragma once
#include <cstdint>
#include <optional>
#include <utility>

#include "base/fd.hpp"
#include "base/pid.hpp"
#include "proc/proc_files.hpp"
#include "proc/sched_times.hpp"

namespace fade {

struct StopSample {
  std::uint64_t stops = 0;
  std::int64_t ns = 0;  // of all of them
};

class StopSamples {
 public:
  explicit StopSamples(ProcFiles proc = ProcFiles()) : proc_(std::move(proc)) {}

  // Call first at every stop of a call, `now` in ns of any clock. Returns the block that this stop ends.
  std::optional<StopSample> stopped(Tid tid, std::int64_t now);
  // Call last, before the thread is resumed.
  void resumes(Tid tid, std::int64_t now) {
    if (tid == block_.tid) block_.resumed = now;
  }

 private:
  // A block begins at every 32nd stop at most, so reading the thread's times takes less than a hundredth of a stop.
  // Long blocks tell most. A thread that often waits gives none, so its next block is shorter.
  static constexpr std::uint64_t kPeriod = 32, kFirst = 4;
  static constexpr std::uint64_t kGivenUp = 16 * kPeriod;  // the thread of the block calls no more

  struct Block {
    Tid tid = 0;  // 0: none
    SchedTimes before;
    std::int64_t resumed = 0;  // 0: by another part of the tracer
    StopSample sample;
  };
  std::optional<SchedTimes> times(Tid tid);
  std::optional<StopSample> end();
  void begin(Tid tid, const std::optional<SchedTimes>& before);

  ProcFiles proc_;
  Fd schedstat_;  // of thread of_
  Tid of_ = 0;
  Block block_;
  std::uint64_t length_ = kFirst;
  std::uint64_t since_ = 0;  // stops since a block began
};

}  // namespace fade
