// Messages in the wire format of Protocol Buffers (https://protobuf.dev/programming-guides/encoding), from which
// traces for Perfetto are made. Only what a writer needs: no message is read.
#pragma once
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace fade::timeline {

class Message {
 public:
  void number(std::uint32_t field, std::uint64_t value) {
    varint(field << 3);
    varint(value);
  }
  void integer(std::uint32_t field, std::int64_t value) { number(field, static_cast<std::uint64_t>(value)); }
  void fixed(std::uint32_t field, std::uint64_t value) {
    varint(field << 3 | 1);
    char bytes[sizeof value];  // x86-64 is little-endian, as the format is
    std::memcpy(bytes, &value, sizeof value);
    bytes_.append(bytes, sizeof value);
  }
  void real(std::uint32_t field, double value) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    fixed(field, bits);
  }
  void text(std::uint32_t field, std::string_view value) {
    varint(field << 3 | 2);
    varint(value.size());
    bytes_ += value;
  }
  void message(std::uint32_t field, const Message& inner) { text(field, inner.bytes_); }
  void clear() { bytes_.clear(); }
  bool is_empty() const { return bytes_.empty(); }
  std::string_view bytes() const { return bytes_; }

 private:
  void varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>(value | 0x80);
    bytes_ += static_cast<char>(value);
  }
  std::string bytes_;
};

}  // namespace fade::timeline
