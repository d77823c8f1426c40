// Rows as ClickHouse's Native format: column by column. Grows row by row; knows neither tables nor servers.
// https://clickhouse.com/docs/en/interfaces/formats#native
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fade::push {

enum class Type : std::uint8_t { Int64, UInt64, Float64, String, Date };

struct ColumnShape {
  std::string name;
  Type type = Type::Int64;
  bool nullable = false;
  std::string type_name;  // as ClickHouse spells it
};

class NativeColumn {
 public:
  explicit NativeColumn(ColumnShape shape) : shape_(std::move(shape)) {}

  const ColumnShape& shape() const { return shape_; }
  void add(std::int64_t value);  // of any numeric type; of a text column: its digits
  void add(double value);
  void add(std::string_view text);       // of a numeric column: 0
  void add_null();                       // 0 or '' if the column has no NULL
  void repeat_last(std::int64_t times);  // the value that was added last
  void clear();
  void write(std::string& to) const;
  std::size_t bytes() const { return values_.size(); }

 private:
  void note(bool is_null) {
    if (shape_.nullable) nulls_ += is_null ? '\1' : '\0';
  }
  ColumnShape shape_;
  std::string nulls_, values_;
  std::size_t last_ = 0;  // where the value that was added last begins
};

class NativeBlock {
 public:
  explicit NativeBlock(const std::vector<ColumnShape>& shapes);

  NativeColumn& column(std::size_t i) { return columns_[i]; }
  const NativeColumn& column(std::size_t i) const { return columns_[i]; }
  std::size_t columns() const { return columns_.size(); }
  void end_row() { ++rows_; }
  std::int64_t rows() const { return rows_; }
  std::size_t bytes() const;
  std::string text() const;  // the whole block
  void clear();

 private:
  std::vector<NativeColumn> columns_;
  std::int64_t rows_ = 0;
};

}  // namespace fade::push
