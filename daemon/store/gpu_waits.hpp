// The calls in which each thread waited for the GPU, as far back as idle times of the GPU may still be explained by
// them. Memory is bounded: old waits that explain nothing are forgotten, and it is known which times they were of.
#pragma once
#include <algorithm>
#include <cstdint>
#include <limits>
#include <unordered_map>
#include <vector>

#include "store/row_ids.hpp"

namespace fade::store {

class GpuWaits {
 public:
  struct Wait {
    std::int64_t entry = 0, exit = 0;
    bool is_copy = false;
    CallRow call = 0;
    DeviceRow device = 0;  // that it waited for; 0: not known
  };

  // In the order of their returns.
  void add(ThreadRow thread, const Wait& wait) {
    threads_.try_emplace(thread, OfThread{{}, forgotten_}).first->second.waits.push_back(wait);
    ++n_;
  }

  bool is_full() const { return n_ >= most_; }
  // Forgets those of the older half that is_needed(thread, wait) does not want.
  template <class Needed>
  void forget(const Needed& is_needed) {
    const std::int64_t until = median_exit();
    n_ = 0;
    for (auto& [thread, of] : threads_) {
      std::erase_if(of.waits, [&, &thread = thread, &of = of](const Wait& wait) {
        if (wait.exit >= until || is_needed(thread, wait)) return false;
        of.forgotten = std::max(of.forgotten, wait.exit);
        return true;
      });
      n_ += of.waits.size();
    }
    if (threads_.size() > kMostThreads) forget_threads();
    most_ = std::max(kMostWaits, 2 * n_);
  }

  // The wait of `thread` that lasted at that time, or nullptr.
  const Wait* at(ThreadRow thread, std::int64_t time) const {
    const auto found = threads_.find(thread);
    if (found == threads_.end()) return nullptr;
    const auto& waits = found->second.waits;
    auto wait =
        std::upper_bound(waits.begin(), waits.end(), time, [](std::int64_t t, const Wait& w) { return t < w.exit; });
    for (int nested = 0; wait != waits.end() && nested < kMostNested; ++wait, ++nested)
      if (wait->entry <= time) return &*wait;
    return nullptr;
  }
  // No wait of `thread` at that time was forgotten.
  bool is_known(ThreadRow thread, std::int64_t time) const {
    const auto found = threads_.find(thread);
    return time >= (found == threads_.end() ? forgotten_ : found->second.forgotten);
  }

 private:
  static constexpr std::size_t kMostThreads = 4'096, kMostWaits = 65'536;
  static constexpr int kMostNested = 8;
  static constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::min();

  struct OfThread {
    std::vector<Wait> waits;
    std::int64_t forgotten = kNever;  // the last return of those
  };

  std::int64_t median_exit() const {
    std::vector<std::int64_t> exits;
    for (const auto& [thread, of] : threads_)
      for (const Wait& wait : of.waits) exits.push_back(wait.exit);
    if (exits.empty()) return kNever;
    const auto middle = exits.begin() + static_cast<std::ptrdiff_t>(exits.size() / 2);
    std::nth_element(exits.begin(), middle, exits.end());
    return *middle;
  }
  void forget_threads() {
    std::erase_if(threads_, [&](const auto& thread) {
      if (!thread.second.waits.empty()) return false;
      forgotten_ = std::max(forgotten_, thread.second.forgotten);
      return true;
    });
  }

  std::unordered_map<ThreadRow, OfThread> threads_;
  std::int64_t forgotten_ = kNever;  // of threads that have no entry
  std::size_t n_ = 0, most_ = kMostWaits;
};

}  // namespace fade::store
