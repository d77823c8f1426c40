// The times at which anything of a kind ran, as spans that do not overlap: the union of works, however many queues ran
// them at once and in whatever order their times become known. Owned by GpuTimeline.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>

#include "store/row_ids.hpp"

namespace fade::store {

// A work where it begins or ends a span, with the call around it. 0: not known.
struct GpuEdge {
  CallRow call = 0;
  ThreadRow thread = 0;
  std::int64_t at = 0;               // when it was put to run
  std::int64_t entry = 0, exit = 0;  // of the call
  std::int64_t previous = 0;         // exit of the last call of that thread before it that put work to run
  bool is_estimate = false;          // `at` is not known exactly
};

class GpuSpans {
 public:
  struct Span {
    std::int64_t end = 0;
    GpuEdge first, last;  // the works that began and ended it
  };
  using Map = std::map<std::int64_t, Span>;  // by begin

  // Calls newly(from, to) for each part of the time that no work covered before.
  template <class Newly>
  void add(std::int64_t start, std::int64_t end, const GpuEdge& work, const Newly& newly) {
    auto at = spans_.upper_bound(start);
    if (at != spans_.begin() && std::prev(at)->second.end >= start) --at;
    Span whole{end, work, work};
    std::int64_t begin = start, covered = start;
    while (at != spans_.end() && at->first <= end) {
      if (covered < at->first) newly(covered, at->first);
      covered = std::max(covered, at->second.end);
      if (at->first <= begin) begin = at->first, whole.first = at->second.first;
      if (at->second.end >= whole.end) whole.end = at->second.end, whole.last = at->second.last;
      at = spans_.erase(at);
    }
    if (covered < end) newly(covered, end);
    spans_.emplace_hint(at, begin, whole);
  }

  // Forgets the spans before `until`. Calls final(before, after) for each two spans between which nothing can come any
  // more, if no work is added that begins earlier.
  template <class Final>
  void forget(std::int64_t until, const Final& final) {
    while (spans_.size() > 1) {
      const auto first = spans_.begin(), next = std::next(first);
      if (next->first > until) return;
      final(*first, *next);
      spans_.erase(first);
    }
  }

  // Whether a span that ends in [from, until) has is_it(next): the span after it, or nullptr.
  template <class IsIt>
  bool has_end_within(std::int64_t from, std::int64_t until, const IsIt& is_it) const {
    auto at = spans_.upper_bound(from);
    if (at != spans_.begin()) --at;
    for (; at != spans_.end() && at->second.end < until; ++at) {
      const auto next = std::next(at);
      if (at->second.end >= from && is_it(next == spans_.end() ? nullptr : &next->second)) return true;
    }
    return false;
  }

  const Map& all() const { return spans_; }
  std::int64_t middle() const {
    return std::next(spans_.begin(), static_cast<std::ptrdiff_t>(spans_.size() / 2))->first;
  }

 private:
  Map spans_;
};

}  // namespace fade::store
