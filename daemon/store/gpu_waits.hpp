// The calls in which each thread waited for the GPU, as far back as idle times of the GPU may still be explained by
// them. Memory is bounded: the oldest are forgotten.
#pragma once
#include <algorithm>
#include <cstdint>
#include <deque>
#include <unordered_map>

#include "store/row_ids.hpp"

namespace fade::store {

class GpuWaits {
 public:
  struct Wait {
    std::int64_t entry = 0, exit = 0;
    bool is_copy = false;
    CallRow call = 0;
  };

  // In the order of their returns.
  void add(ThreadRow thread, const Wait& wait) {
    if (threads_.size() >= kMostThreads && !threads_.contains(thread)) threads_.clear();
    std::deque<Wait>& waits = threads_[thread];
    if (waits.size() >= kMostWaits) waits.pop_front();
    waits.push_back(wait);
  }

  // The wait of `thread` that lasted at that time, or nullptr.
  const Wait* at(ThreadRow thread, std::int64_t time) const {
    const auto found = threads_.find(thread);
    if (found == threads_.end()) return nullptr;
    const auto& waits = found->second;
    auto wait =
        std::upper_bound(waits.begin(), waits.end(), time, [](std::int64_t t, const Wait& w) { return t < w.exit; });
    for (int nested = 0; wait != waits.end() && nested < kMostNested; ++wait, ++nested)
      if (wait->entry <= time) return &*wait;
    return nullptr;
  }

 private:
  static constexpr std::size_t kMostThreads = 4'096, kMostWaits = 16'384;
  static constexpr int kMostNested = 8;

  std::unordered_map<ThreadRow, std::deque<Wait>> threads_;
};

}  // namespace fade::store
