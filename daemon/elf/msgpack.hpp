// Reads MessagePack (msgpack.org) item by item: no tree, no recursion, no copies. The input is not trusted: a count
// that exceeds the remaining bytes ends the reading.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace fade::elf {

struct MsgItem {
  enum class Kind : std::uint8_t {
    Nil,
    Number,
    Text,
    Array,
    Map,
    Other
  };  // Number: integers and booleans; Other: floats, bytes, extensions
  Kind kind = Kind::Nil;
  // for arrays the number of elements, for maps of pairs; the items follow; negative numbers as two's complement
  std::uint64_t number = 0;
  std::string_view text;  // points into the input
};

class MsgReader {
 public:
  explicit MsgReader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  // nullopt: the end, or not MessagePack. The content of an array or map comes with the next calls.
  std::optional<MsgItem> next();
  // Skips one value with everything inside it. Returns false at the end or if damaged.
  bool skip();

 private:
  std::optional<std::uint64_t> big_endian(std::size_t size);
  std::optional<MsgItem> content(MsgItem::Kind kind, std::optional<std::uint64_t> size);
  std::optional<MsgItem> container(MsgItem::Kind kind, std::optional<std::uint64_t> count) const;
  std::optional<MsgItem> integer(std::size_t size, bool is_signed);
  std::optional<MsgItem> marked(unsigned marker);

  std::span<const std::byte> bytes_;  // the remaining input
};

}  // namespace fade::elf
