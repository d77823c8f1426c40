#include "cli/push/native_block.hpp"

#include <algorithm>

namespace fade::push {
namespace {

constexpr std::size_t kLongestLength = 10;

// As LEB128. Returns how many bytes it took.
std::size_t put_length(char* to, std::uint64_t n) {
  char* at = to;
  for (; n >= 0x80; n >>= 7) *at++ = static_cast<char>(n | 0x80);
  *at++ = static_cast<char>(n);
  return static_cast<std::size_t>(at - to);
}

void append_length(std::string& to, std::uint64_t n) {
  char bytes[kLongestLength];
  to.append(bytes, put_length(bytes, n));
}

void append_with_length(std::string& to, std::string_view text) {
  append_length(to, text.size());
  to += text;
}

}  // namespace

void Bytes::grow(std::size_t by) {
  constexpr std::size_t kLeast = 256;
  room_.resize(std::max({2 * room_.size(), size_ + by, kLeast}));
}

void Bytes::repeat_from(std::size_t at, std::size_t times) {
  const std::size_t size = size_ - at, all = size * times;
  if (size_ + all > room_.size()) grow(all);
  for (std::size_t done = 0; done < all;) {  // twice as much each time
    const std::size_t more = std::min(all - done, size + done);
    std::memcpy(room_.data() + size_, room_.data() + at, more);
    size_ += more;
    done += more;
  }
}

void NativeColumn::append_text(std::string_view text) {
  char length[kLongestLength];
  values_.add(length, put_length(length, text.size()));
  values_.add(text.data(), text.size());
}

void NativeColumn::add_converted(std::int64_t value) {
  begin_value();
  switch (shape_.type) {
    case Type::Int64:
    case Type::UInt64: return append(value);
    case Type::Float64: return append(static_cast<double>(value));
    case Type::Date: return append(static_cast<std::uint16_t>(value));
    case Type::String: return append_text(std::to_string(value));
  }
}

void NativeColumn::add(double value) {
  if (shape_.type != Type::Float64) return add(static_cast<std::int64_t>(value));
  begin_value();
  append(value);
}

void NativeColumn::add(std::string_view text) {
  if (shape_.type != Type::String) return add(std::int64_t{0});
  begin_value();
  append_text(text);
}

void NativeColumn::add_null() {
  if (shape_.type == Type::String) add(std::string_view());
  else add(std::int64_t{0});
  if (!shape_.nullable) return;
  nulls_.resize(rows_, '\0');
  nulls_.back() = '\1';
}

void NativeColumn::repeat_last(std::int64_t times) {
  if (times <= 0) return;
  const std::size_t size = values_.size() - last_;
  const bool is_null = rows_ > 0 && nulls_.size() == rows_;
  values_.repeat_from(last_, static_cast<std::size_t>(times));
  rows_ += static_cast<std::size_t>(times);
  last_ = values_.size() - size;
  if (is_null) nulls_.resize(rows_, '\1');
}

void NativeColumn::clear() {
  nulls_.clear();
  values_.clear();
  rows_ = last_ = 0;
}

std::string NativeColumn::nulls() const {
  std::string out = nulls_;
  if (shape_.nullable) out.resize(rows_, '\0');
  return out;
}

void NativeColumn::write_head(std::string& to) const {
  append_with_length(to, shape_.name);
  append_with_length(to, shape_.type_name);
}

NativeBlock::NativeBlock(const std::vector<ColumnShape>& shapes) {
  for (const ColumnShape& shape : shapes) columns_.emplace_back(shape);
}

std::string NativeBlock::counts() const {
  std::string out;
  append_length(out, columns_.size());
  append_length(out, static_cast<std::uint64_t>(rows_));
  return out;
}

std::string NativeBlock::text() const {
  std::string out;
  parts([&](std::string_view part) { out += part; });
  return out;
}

void NativeBlock::clear() {
  for (NativeColumn& column : columns_) column.clear();
  rows_ = 0;
}

}  // namespace fade::push
