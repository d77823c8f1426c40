// When a thread with a ring is to stop for the stack of every Nth call (--stacks sample=N). A limit of its ring stops
// it there, so the calls between cost nothing. Positions are those of RingLayout. Pure.
#pragma once
#include <algorithm>
#include <cstdint>
#include <limits>

#include "tap/layout.hpp"

namespace fade {

class TapSampling {
 public:
  // `every`: 0: no call is sampled. `position`: of the thread's first record.
  TapSampling(std::uint32_t every, std::uint64_t position) : every_(every), first_(position) {
    if (every_ != 0) wait(position);
  }

  bool is_on() const { return every_ != 0; }
  // The thread must stop in front of the first record from here on.
  std::uint64_t limit() const { return limit_; }
  // The record of an entry was read.
  void began() {
    ++calls_;
    ++since_;
  }
  // The thread stands in front of its record at `position`, and all records before it were read. Moves the limit.
  // True: the call that begins there is sampled.
  bool stopped(std::uint64_t position, bool is_before_call) {
    if (position < limit_) return false;
    const bool is_due = is_before_call && since_ >= every_;
    if (is_due) since_ = 0;
    if (is_before_call) wait(position);
    else limit_ = position + 1;
    return is_due;
  }

 private:
  static constexpr std::uint64_t kLeastEntry = tap::EntryLayout::size(0);
  static constexpr std::uint64_t kLeastCall = kLeastEntry + tap::ExitLayout::kSize;
  static constexpr std::uint32_t kFew = 8;

  // Sets the limit behind the calls that are left until the next sample. Their size is estimated from all calls before.
  // Of the last few, none is passed by mistake.
  void wait(std::uint64_t position) {
    const std::uint64_t left = every_ - std::min(since_, every_);
    const std::uint64_t size = calls_ == 0 ? kLeastCall : std::max(kLeastCall, (position - first_) / calls_);
    if (left > kFew) limit_ = position + left * size;
    else limit_ = left == 0 ? position : position + 1 + (left - 1) * kLeastEntry;
  }

  std::uint32_t every_;
  std::uint64_t first_, calls_ = 0;
  std::uint32_t since_ = 1;  // the sampled call itself, and those after it; the first sample is the Nth call
  std::uint64_t limit_ = std::numeric_limits<std::uint64_t>::max();
};

}  // namespace fade
