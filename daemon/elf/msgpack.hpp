// Reads MessagePack (msgpack.org) item by item: no tree, no recursion, no copies. What it reads is not trusted: a count that
// the remaining bytes cannot hold ends the reading.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace fade::elf {

struct MsgItem {
  enum class Kind : std::uint8_t { Nil, Number, Text, Array, Map, Other };  // Number: integers and booleans; Other: floats, bytes, extensions
  Kind kind = Kind::Nil;
  std::uint64_t number = 0;  // of arrays the elements, of maps the pairs, which follow; negative numbers as two's complement
  std::string_view text;     // lies in what is read
};

class MsgReader {
 public:
  explicit MsgReader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  // nullopt: the end, or not MessagePack. An array's or map's content comes with the next calls.
  std::optional<MsgItem> next();
  // One value with everything inside it. False: the end, or damaged.
  bool skip();

 private:
  std::optional<std::uint64_t> big_endian(std::size_t size);
  std::optional<MsgItem> content(MsgItem::Kind kind, std::optional<std::uint64_t> size);
  std::optional<MsgItem> container(MsgItem::Kind kind, std::optional<std::uint64_t> count) const;
  std::optional<MsgItem> integer(std::size_t size, bool is_signed);
  std::optional<MsgItem> marked(unsigned marker);

  std::span<const std::byte> bytes_;  // what is left
};

}  // namespace fade::elf
