// When to read: after sums were written, at most once an interval, and never so often that reading takes more than a
// small share of a processor.
#pragma once
#include <cstdint>
#include <functional>

#include "base/result.hpp"
#include "cli/top/history.hpp"
#include "cli/top/reader.hpp"

namespace fade::cli::top {

// The decisions alone. All times are of one clock that only moves forward.
class Pace {
 public:
  explicit Pace(std::int64_t interval_ns) : interval_ns_(interval_ns) {}

  void saw_mark(std::int64_t mark, std::int64_t now_ns);
  bool is_due(std::int64_t now_ns) const;
  // The moment that sums read now are of, and whether it is known well.
  std::int64_t moment(std::int64_t now_ns) const { return changed_ ? changed_at_ : now_ns; }
  bool is_exact() const { return reads_ > 0; }
  // `cpu_ns`: of the processor. The first time looks names up, so it says nothing about the next ones.
  void read_took(std::int64_t start_ns, std::int64_t cpu_ns);

 private:
  const std::int64_t interval_ns_;
  std::int64_t mark_ = 0, changed_at_ = 0;
  bool changed_ = false;
  std::int64_t reads_ = 0, last_read_ = 0, not_before_ = 0;
};

class Sampler {
 public:
  Sampler(Reader& reader, std::int64_t interval_ns, std::int64_t window_ns, bool utf8)
      : reader_(reader), pace_(interval_ns), history_(window_ns), utf8_(utf8) {}

  Result<bool> poll();  // true: there are new sums
  const History& history() const { return history_; }

 private:
  Reader& reader_;
  Pace pace_;
  History history_;
  const bool utf8_;
};

std::int64_t steady_ns();

}  // namespace fade::cli::top
