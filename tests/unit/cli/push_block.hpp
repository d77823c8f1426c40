// A request of fade-query push, read as ClickHouse reads it: compressed blocks, and in them columns of the format
// Native.
#pragma once
#include <gtest/gtest.h>
#include <zstd.h>

#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace fade::push {

inline std::string unpacked(std::string_view body) {
  constexpr std::size_t kChecksum = 16, kHead = 9;
  std::string out;
  while (!body.empty()) {
    std::uint32_t packed = 0, plain = 0;
    std::memcpy(&packed, body.data() + kChecksum + 1, sizeof packed);
    std::memcpy(&plain, body.data() + kChecksum + 5, sizeof plain);
    EXPECT_EQ(body[kChecksum], '\x90') << "zstd";
    std::string piece(plain, '\0');
    EXPECT_EQ(ZSTD_decompress(piece.data(), plain, body.data() + kChecksum + kHead, packed - kHead), plain);
    out += piece;
    body.remove_prefix(kChecksum + packed);
  }
  return out;
}

// Cells as texts, "NULL" for none.
class ReadBlock {
 public:
  explicit ReadBlock(std::string_view text) : rest_(text) {
    const std::uint64_t columns = length();
    rows_ = length();
    for (std::uint64_t i = 0; i < columns; ++i) read_column();
    EXPECT_TRUE(rest_.empty()) << rest_.size() << " bytes behind the block";
  }
  std::uint64_t rows() const { return rows_; }
  const std::vector<std::string>& operator[](const std::string& column) const { return columns_.at(column); }

 private:
  std::uint64_t length() {
    std::uint64_t out = 0;
    for (unsigned shift = 0;; shift += 7) {
      const auto byte = static_cast<unsigned char>(rest_.front());
      rest_.remove_prefix(1);
      out |= std::uint64_t{byte & 0x7Fu} << shift;
      if (byte < 0x80) return out;
    }
  }
  std::string_view bytes(std::uint64_t size) {
    const std::string_view out = rest_.substr(0, size);
    EXPECT_EQ(out.size(), size);
    rest_.remove_prefix(out.size());
    return out;
  }
  template <class T>
  T number() {
    T out{};
    std::memcpy(&out, bytes(sizeof out).data(), sizeof out);
    return out;
  }
  std::string cell(std::string_view type) {
    if (type == "String") return std::string(bytes(length()));
    if (type == "Date") return std::to_string(number<std::uint16_t>());
    if (type == "Float64") return std::to_string(number<double>());
    return type == "UInt64" ? std::to_string(number<std::uint64_t>()) : std::to_string(number<std::int64_t>());
  }
  void read_column() {
    constexpr std::string_view kNullable = "Nullable(";
    const std::string name(bytes(length()));
    std::string_view type = bytes(length()), nulls;
    if (type.starts_with(kNullable)) {
      type = type.substr(kNullable.size(), type.size() - kNullable.size() - 1);
      nulls = bytes(rows_);
    }
    std::vector<std::string>& cells = columns_[name];
    for (std::uint64_t i = 0; i < rows_; ++i) {
      cells.push_back(cell(type));
      if (!nulls.empty() && nulls[i] != '\0') cells.back() = "NULL";
    }
  }

  std::string_view rest_;
  std::uint64_t rows_ = 0;
  std::map<std::string, std::vector<std::string>> columns_;
};

}  // namespace fade::push
