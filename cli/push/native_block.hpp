// Rows as ClickHouse's Native format: column by column. Grows row by row; knows neither tables nor servers.
// https://clickhouse.com/docs/en/interfaces/formats#native
#pragma once
#include <bit>
#include <cstdint>
#include <cstring>
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

// Bytes that grow. Cheaper than a std::string for many short values.
class Bytes {
 public:
  void add(const void* data, std::size_t size) {
    if (size == 0) return;  // `data` may be null then, which memcpy must not get
    if (size_ + size > room_.size()) grow(size);
    std::memcpy(room_.data() + size_, data, size);
    size_ += size;
  }
  void repeat_from(std::size_t at, std::size_t times);  // all from there on
  std::size_t size() const { return size_; }
  std::string_view view() const { return std::string_view(room_).substr(0, size_); }
  void clear() { size_ = 0; }  // keeps its memory

 private:
  void grow(std::size_t by);
  std::string room_;
  std::size_t size_ = 0;
};

class NativeColumn {
 public:
  explicit NativeColumn(ColumnShape shape) : shape_(std::move(shape)) {}

  const ColumnShape& shape() const { return shape_; }
  void add(std::int64_t value) {  // of any numeric type; of a text column: its digits
    if (shape_.type > Type::UInt64) return add_converted(value);
    begin_value();
    append(value);
  }
  void add(double value);
  void add(std::string_view text);  // of a numeric column: 0
  void add_null();                  // 0 or '' if the column has no NULL
  // A value as another column of the same shape has it in values(): cheaper than text or a number of unknown type.
  void add_encoded(std::string_view value) {
    begin_value();
    values_.add(value.data(), value.size());
  }
  void repeat_last(std::int64_t times);  // the value that was added last
  void clear();
  // Its bytes in the block are those of write_head(), nulls() and values().
  void write_head(std::string& to) const;
  std::string nulls() const;
  std::string_view values() const { return values_.view(); }

 private:
  void begin_value() {
    ++rows_;
    last_ = values_.size();
  }
  template <class T>
  void append(T value) {
    static_assert(std::endian::native == std::endian::little);  // as the format wants numbers
    values_.add(&value, sizeof value);
  }
  void append_text(std::string_view text);
  void add_converted(std::int64_t value);
  ColumnShape shape_;
  std::string nulls_;  // up to the last NULL: '\1' for each
  Bytes values_;
  std::size_t rows_ = 0;
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
  std::string text() const;  // the whole block
  // The same in parts, without copies of the values: `take` gets each part.
  template <class Take>
  void parts(const Take& take) const {
    std::string head = counts();
    for (const NativeColumn& column : columns_) {
      column.write_head(head);
      head += column.nulls();
      take(std::string_view(head));
      take(column.values());
      head.clear();
    }
  }
  void clear();

 private:
  std::string counts() const;
  std::vector<NativeColumn> columns_;
  std::int64_t rows_ = 0;
};

}  // namespace fade::push
