// Turns readings of the processor's time stamp counter into session time. The scale between both is measured again
// with each sample, because the kernel steers its clock.
#pragma once
#include <cstdint>
#include <string_view>

#include "base/result.hpp"

namespace fade::tap {

class TscClock {
 public:
  // Whether the counter is a clock on this machine: constant, never stopped, and trusted by the kernel. The texts are
  // those of /proc/cpuinfo and of the kernel's current_clocksource. The Error names the missing property.
  static Result<void> usable(std::string_view cpuinfo, std::string_view clocksource);

  // The counter and CLOCK_BOOTTIME at one moment.
  struct Sample {
    std::uint64_t tsc = 0;
    std::int64_t boottime_ns = 0;
  };
  // The best of several pairs of readings: the one with the shortest time between two readings of the counter.
  static Sample sample();

  // `begin`: CLOCK_BOOTTIME at which session time is 0.
  TscClock(Sample first, std::int64_t begin) : first_(first), last_(first), begin_(begin) {}
  // Measures the scale from the first sample to this one. Wants some milliseconds between samples.
  void update(Sample now);
  // Session time in nanoseconds. Exact to about the distance from the last sample times 1e-6. Needs one update().
  std::int64_t at(std::uint64_t tsc) const {
    const double ns = static_cast<double>(static_cast<std::int64_t>(tsc - last_.tsc)) * scale_;
    return last_.boottime_ns - begin_ + static_cast<std::int64_t>(ns < 0 ? ns - 0.5 : ns + 0.5);
  }
  double ns_per_tick() const { return scale_; }

 private:
  Sample first_, last_;
  std::int64_t begin_;
  double scale_ = 0;  // ns
};

}  // namespace fade::tap
