#include "cli/push/native_block.hpp"

#include <bit>
#include <cstring>

namespace fade::push {
namespace {

static_assert(std::endian::native == std::endian::little);  // as the format wants numbers

template <class T>
void append(std::string& to, T value) {
  char bytes[sizeof value];
  std::memcpy(bytes, &value, sizeof value);
  to.append(bytes, sizeof value);
}

void append_length(std::string& to, std::uint64_t n) {
  for (; n >= 0x80; n >>= 7) to += static_cast<char>(n | 0x80);
  to += static_cast<char>(n);
}

void append_text(std::string& to, std::string_view text) {
  append_length(to, text.size());
  to += text;
}

}  // namespace

void NativeColumn::add(std::int64_t value) {
  note(false);
  last_ = values_.size();
  switch (shape_.type) {
    case Type::Int64:
    case Type::UInt64: append(values_, value); break;
    case Type::Float64: append(values_, static_cast<double>(value)); break;
    case Type::Date: append(values_, static_cast<std::uint16_t>(value)); break;
    case Type::String: append_text(values_, std::to_string(value)); break;
  }
}

void NativeColumn::add(double value) {
  if (shape_.type != Type::Float64) return add(static_cast<std::int64_t>(value));
  note(false);
  last_ = values_.size();
  append(values_, value);
}

void NativeColumn::add(std::string_view text) {
  if (shape_.type != Type::String) return add(std::int64_t{0});
  note(false);
  last_ = values_.size();
  append_text(values_, text);
}

void NativeColumn::add_null() {
  if (shape_.type == Type::String) add(std::string_view());
  else add(std::int64_t{0});
  if (shape_.nullable) nulls_.back() = '\1';
}

void NativeColumn::repeat_last(std::int64_t times) {
  if (times <= 0) return;
  const std::string value = values_.substr(last_);
  if (shape_.nullable) nulls_.append(static_cast<std::size_t>(times), nulls_.back());
  values_.reserve(values_.size() + value.size() * static_cast<std::size_t>(times));
  for (std::int64_t i = 0; i < times; ++i) values_ += value;
  last_ = values_.size() - value.size();
}

void NativeColumn::clear() {
  nulls_.clear();
  values_.clear();
}

void NativeColumn::write(std::string& to) const {
  append_text(to, shape_.name);
  append_text(to, shape_.type_name);
  to += nulls_;
  to += values_;
}

NativeBlock::NativeBlock(const std::vector<ColumnShape>& shapes) {
  for (const ColumnShape& shape : shapes) columns_.emplace_back(shape);
}

std::size_t NativeBlock::bytes() const {
  std::size_t out = 0;
  for (const NativeColumn& column : columns_) out += column.bytes();
  return out;
}

std::string NativeBlock::text() const {
  std::string out;
  out.reserve(bytes() + bytes() / 4);
  append_length(out, columns_.size());
  append_length(out, static_cast<std::uint64_t>(rows_));
  for (const NativeColumn& column : columns_) column.write(out);
  return out;
}

void NativeBlock::clear() {
  for (NativeColumn& column : columns_) column.clear();
  rows_ = 0;
}

}  // namespace fade::push
