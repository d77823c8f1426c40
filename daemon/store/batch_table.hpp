// Rows of integers on their way into one table. SQLite reads them through a virtual table, so that a batch is one
// INSERT ... SELECT: twice as fast as binding row by row. Owned by the recorder, used on its thread only. Nobody else
// writes that table.
#pragma once
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "store/sqlite.hpp"

namespace fade::store {

class BatchTable {
 public:
  static constexpr std::int64_t kNull = std::numeric_limits<std::int64_t>::min();

  // `target` is the table, `columns` how many it has.
  BatchTable(std::string target, std::size_t columns) : target_(std::move(target)), columns_(columns) {}
  BatchTable(const BatchTable&) = delete;  // the connection keeps its address
  BatchTable& operator=(const BatchTable&) = delete;

  Result<void> attach(sqlite::Db& db);  // once, before the first flush; the table must outlive the connection

  // Values in the order of the target's columns, as many as it has.
  template <class... A>
  void add(A... values) {
    (cells_.push_back(static_cast<std::int64_t>(values)), ...);
  }
  std::size_t rows() const { return cells_.size() / columns_; }
  Result<void> flush();  // inserts what was added
  void clear() { cells_.clear(); }

  std::size_t columns() const { return columns_; }
  const std::int64_t* row(std::size_t at) const { return cells_.data() + at * columns_; }
  std::int64_t last_id() const { return last_id_; }  // the greatest in the table, 0: it is empty

 private:
  const std::string target_;
  const std::size_t columns_;
  std::vector<std::int64_t> cells_;
  std::int64_t last_id_ = 0;
  sqlite::Stmt insert_;
};

}  // namespace fade::store
