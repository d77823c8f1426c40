// The last Sums, and those that lie a window before them: rates are differences of both.
#pragma once
#include <cstdint>
#include <deque>
#include <utility>

#include "cli/top/sums.hpp"

namespace fade::cli::top {

class History {
 public:
  // Sums come about once a second, so a window that is an eighth shorter counts as whole.
  explicit History(std::int64_t window_ns) : least_ns_(window_ns - window_ns / 8) {}

  // `exact`: the moment at which these sums were written is known. It is unknown for the first ones, so they serve for
  // rates only until there are others.
  void add(Sums sums, bool exact);

  // Of the same sums, without those between the first and the last.
  History ends() const;

  bool empty() const { return all_.empty(); }
  std::size_t size() const { return all_.size(); }
  const Sums& now() const { return all_.back(); }
  const Sums* base() const { return all_.size() > 1 ? &all_.front() : nullptr; }
  std::int64_t covered_ns() const { return all_.empty() ? 0 : now().at_ns - all_.front().at_ns; }
  bool is_full() const { return covered_ns() >= least_ns_; }

 private:
  static constexpr std::int64_t kPoints = 60;  // at most about so many are kept

  std::int64_t least_ns_;
  std::deque<Sums> all_;  // oldest first
  bool first_is_exact_ = true;
};

}  // namespace fade::cli::top
