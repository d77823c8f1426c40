// The times for which fade stopped the threads of a process while it attached or detached.
#pragma once
#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "base/pid.hpp"

namespace fade {

struct HoldTimes {
  std::uint64_t threads = 0;                 // that the process had
  std::uint64_t held = 0;                    // of them stopped at all
  std::int64_t median_ns = 0, worst_ns = 0;  // over all threads; one that was not stopped counts as 0
};

// From the request to stop to the request to go on: the thread was really stopped for less.
class HoldClock {
 public:
  // One thread may be held more than once: that adds up.
  void held(Tid tid, std::int64_t ns) { by_thread_[tid] += ns; }

  HoldTimes of(std::uint64_t threads) const {
    HoldTimes out{.threads = std::max<std::uint64_t>(threads, by_thread_.size()), .held = by_thread_.size()};
    if (by_thread_.empty()) return out;
    std::vector<std::int64_t> all;
    for (const auto& [tid, ns] : by_thread_) all.push_back(ns);
    all.resize(out.threads, 0);
    std::ranges::sort(all);
    out.median_ns = all[all.size() / 2];
    out.worst_ns = all.back();
    return out;
  }

 private:
  std::unordered_map<Tid, std::int64_t> by_thread_;
};

}  // namespace fade
