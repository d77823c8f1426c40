// Rows of integers on their way into one table. SQLite reads them through a virtual table, so that a batch is one
// INSERT ... SELECT: twice as fast as binding row by row. Owned by the recorder, used on its thread only. No other code
// writes that table.
#pragma once
#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "base/id.hpp"
#include "store/sqlite.hpp"

namespace fade::store {

class BatchTable {  // all fields describe one batch: its cells, its equal columns, and the statements that insert it
 public:
  static constexpr std::int64_t kNull = std::numeric_limits<std::int64_t>::min();

  // `target` is the table, `columns` the number of its columns, at most 64. The first cell of a row is its INTEGER
  // PRIMARY KEY, if it has one: the first or (better) the last column.
  BatchTable(std::string target, std::size_t columns) : target_(std::move(target)), columns_(columns) {}
  // For a table with another key: `on_conflict` is the action for rows that exist already.
  BatchTable(std::string target, std::size_t columns, std::string on_conflict)
      : target_(std::move(target)), columns_(columns), on_conflict_(std::move(on_conflict)) {}
  BatchTable(const BatchTable&) = delete;  // the connection keeps its address
  BatchTable& operator=(const BatchTable&) = delete;

  Result<void> attach(sqlite::Db& db);  // once, before the first flush; the table must outlive the connection

  // As many values as the target has columns, in their order, but for the INTEGER PRIMARY KEY, which comes first.
  template <class... A>
  void add(A... values) {
    if (cells_.size() < used_ + columns_) cells_.resize(std::max(cells_.size() * 2, kFirstRows * columns_));
    if (used_ == 0) differ_.assign(columns_, 0);
    std::int64_t* cell = cells_.data() + used_;
    const std::int64_t* first = cells_.data();
    std::int64_t* differ = differ_.data();
    ((*cell = cell_of(values), *differ++ |= *cell++ ^ *first++), ...);
    used_ += columns_;
  }
  std::size_t rows() const { return used_ / columns_; }
  Result<void> flush();  // inserts the added rows
  void clear() { used_ = 0; }

  std::size_t columns() const { return columns_; }
  const std::int64_t* row(std::size_t at) const { return cells_.data() + at * columns_; }
  std::size_t first() const { return first_; }  // row of those that are being inserted, and the one behind the last
  std::size_t end() const { return end_; }
  bool has_ids() const { return has_ids_; }
  std::int64_t last_id() const { return last_id_; }  // the greatest in the table, 0: it is empty

 private:
  static constexpr std::size_t kFirstRows = 256;

  template <class T>
  static std::int64_t cell_of(T value) {
    return static_cast<std::int64_t>(value);
  }
  template <class Tag, class Rep>
  static std::int64_t cell_of(Id<Tag, Rep> id) {
    return static_cast<std::int64_t>(id.value());
  }

  std::string source() const { return target_ + "src"; }
  // Columns that have one value in all rows, a bit each: SQLite need not ask for it row by row.
  struct Shape {
    std::uint64_t empty = 0;  // NULL; the id's: it is the next one
    std::uint64_t same = 0;   // another, which is bound
    auto operator<=>(const Shape&) const = default;
  };
  Shape shape() const;
  bool next_stretch();
  Result<sqlite::Stmt*> insert_of(const Shape& shape);
  Result<void> insert(const Shape& shape);

  const std::string target_;
  const std::size_t columns_;
  const std::string on_conflict_;
  std::vector<std::int64_t> cells_;   // room for rows
  std::size_t used_ = 0;              // cells that are rows
  std::vector<std::int64_t> differ_;  // of each column the bits in which not all rows are as the first
  std::size_t first_ = 0, end_ = 0;
  std::int64_t last_id_ = 0;
  sqlite::Db* db_ = nullptr;
  std::vector<std::string> names_;  // of columns, in the order of cells
  bool has_ids_ = false;            // an INTEGER PRIMARY KEY
  bool id_is_last_ = false;         // in the table
  std::map<Shape, sqlite::Stmt> inserts_;
};
inline constexpr std::int64_t kNull = BatchTable::kNull;

// The cell of a row that there need not be.
template <class Tag>
std::int64_t or_null(Id<Tag, std::int64_t> row) {
  return row ? row.value() : kNull;
}

}  // namespace fade::store
