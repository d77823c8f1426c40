// Hits of rules: equal ones add up in one row of their table. The first of them is inserted by the caller, and the row
// gets the number of hits and the time of the last one when the sums are flushed.
#pragma once
#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "store/write.hpp"

namespace fade::store {

template <class Row>
class HitSums {
 public:
  // `table` has the columns id, n and ts_last.
  HitSums(sqlite::Db& db, Failure& failure, const std::string& table)
      : last_(last_row<Row>(db, table)),
        repeat_(db, failure, fmt::format("UPDATE {} SET n = ?2, ts_last = ?3 WHERE id = ?1", table)) {}

  // Beyond so many keys the caller tells fewer hits apart.
  bool is_crowded() const { return sums_.size() >= kMostSums; }
  std::uint64_t hits() const { return hits_; }
  // Counts a hit. The row of a hit that is the first of its kind; 0: there is such a row already.
  Row add(std::string key, std::int64_t at) {
    ++hits_;
    Sum& sum = sums_[std::move(key)];
    sum.last = at;
    sum.changed = ++sum.n > 1;
    return sum.changed ? Row(0) : sum.row = ++last_;
  }
  void flush() {
    for (auto& [key, sum] : sums_) {
      if (!sum.changed) continue;
      repeat_(sum.row, sum.n, sum.last);
      sum.changed = false;
    }
  }

 private:
  static constexpr std::size_t kMostSums = 10'000;
  struct Sum {
    Row row = 0;
    std::uint64_t n = 0;
    std::int64_t last = 0;
    bool changed = false;
  };

  std::unordered_map<std::string, Sum> sums_;
  Row last_;
  std::uint64_t hits_ = 0;
  Write repeat_;
};

}  // namespace fade::store
