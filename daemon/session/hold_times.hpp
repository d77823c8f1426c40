// How long the threads of a process stood still for us while we came or went.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

namespace fade {

struct HoldTimes {
  std::uint64_t threads = 0;  // that the process had
  std::uint64_t held = 0;     // of them stopped at all
  std::int64_t median_ns = 0, worst_ns = 0;  // over all threads; one that was not stopped counts as 0
};

// From the request to stop to the request to go on: what the thread really stood still is less.
class HoldClock {
 public:
  void held(std::int64_t ns) { times_.push_back(ns); }

  HoldTimes of(std::uint64_t threads) const {
    HoldTimes out{.threads = std::max<std::uint64_t>(threads, times_.size()), .held = times_.size()};
    if (times_.empty()) return out;
    auto all = times_;
    all.resize(out.threads, 0);
    std::ranges::sort(all);
    out.median_ns = all[all.size() / 2];
    out.worst_ns = all.back();
    return out;
  }

 private:
  std::vector<std::int64_t> times_;
};

}  // namespace fade
