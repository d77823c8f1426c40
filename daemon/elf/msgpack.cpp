#include "elf/msgpack.hpp"

namespace fade::elf {

using Kind = MsgItem::Kind;

std::optional<std::uint64_t> MsgReader::big_endian(std::size_t size) {
  if (bytes_.size() < size) return std::nullopt;
  std::uint64_t out = 0;
  for (const std::byte byte : bytes_.first(size)) out = out << 8 | std::to_integer<std::uint64_t>(byte);
  bytes_ = bytes_.subspan(size);
  return out;
}

std::optional<MsgItem> MsgReader::content(Kind kind, std::optional<std::uint64_t> size) {
  if (!size || *size > bytes_.size()) return std::nullopt;
  const std::string_view text(reinterpret_cast<const char*>(bytes_.data()), *size);
  bytes_ = bytes_.subspan(*size);
  return MsgItem{kind, 0, kind == Kind::Text ? text : std::string_view()};
}

std::optional<MsgItem> MsgReader::container(Kind kind, std::optional<std::uint64_t> count) const {
  if (!count || *count > bytes_.size()) return std::nullopt;  // each element takes a byte or more
  return MsgItem{kind, *count, {}};
}

std::optional<MsgItem> MsgReader::integer(std::size_t size, bool is_signed) {
  auto number = big_endian(size);
  if (!number) return std::nullopt;
  const unsigned unused = 64 - 8 * static_cast<unsigned>(size);
  if (is_signed) *number = static_cast<std::uint64_t>(static_cast<std::int64_t>(*number << unused) >> unused);
  return MsgItem{Kind::Number, *number, {}};
}

std::optional<MsgItem> MsgReader::marked(unsigned marker) {
  const auto power = [](unsigned n) { return std::size_t{1} << n; };
  if (marker == 0xc0) return MsgItem{};
  if (marker == 0xc2 || marker == 0xc3) return MsgItem{Kind::Number, marker & 1, {}};
  if (marker >= 0xc4 && marker <= 0xc6) return content(Kind::Other, big_endian(power(marker - 0xc4)));  // bytes
  if (marker >= 0xc7 && marker <= 0xc9) {  // extensions: a type, then bytes
    auto size = big_endian(power(marker - 0xc7));
    return content(Kind::Other, size ? std::optional(*size + 1) : std::nullopt);
  }
  if (marker == 0xca || marker == 0xcb) return content(Kind::Other, power(marker - 0xca + 2));
  if (marker >= 0xcc && marker <= 0xcf) return integer(power(marker - 0xcc), false);
  if (marker >= 0xd0 && marker <= 0xd3) return integer(power(marker - 0xd0), true);
  if (marker >= 0xd4 && marker <= 0xd8) return content(Kind::Other, power(marker - 0xd4) + 1);
  if (marker >= 0xd9 && marker <= 0xdb) return content(Kind::Text, big_endian(power(marker - 0xd9)));
  if (marker == 0xdc || marker == 0xdd) return container(Kind::Array, big_endian(power(marker - 0xdc + 1)));
  if (marker == 0xde || marker == 0xdf) return container(Kind::Map, big_endian(power(marker - 0xde + 1)));
  return std::nullopt;  // 0xc1 is never used
}

std::optional<MsgItem> MsgReader::next() {
  const auto marker = big_endian(1);
  if (!marker) return std::nullopt;
  if (*marker < 0x80) return MsgItem{Kind::Number, *marker, {}};
  if (*marker < 0x90) return container(Kind::Map, *marker & 0xf);
  if (*marker < 0xa0) return container(Kind::Array, *marker & 0xf);
  if (*marker < 0xc0) return content(Kind::Text, *marker & 0x1f);
  if (*marker >= 0xe0)
    return MsgItem{Kind::Number, static_cast<std::uint64_t>(static_cast<std::int64_t>(*marker) - 256), {}};
  return marked(static_cast<unsigned>(*marker));
}

bool MsgReader::skip() {
  for (std::uint64_t left = 1; left > 0; --left) {
    const auto item = next();
    if (!item) return false;
    if (item->kind == Kind::Array) left += item->number;
    if (item->kind == Kind::Map) left += 2 * item->number;
  }
  return true;
}

}  // namespace fade::elf
