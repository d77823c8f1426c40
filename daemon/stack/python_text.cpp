#include "stack/python_text.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "stack/python_bytes.hpp"

namespace fade {
namespace {

constexpr std::size_t kHeader = 128;
constexpr char32_t kReplacement = 0xfffd;

void append_utf8(std::string& out, char32_t c) {
  if ((c >= 0xd800 && c < 0xe000) || c > 0x10ffff) c = kReplacement;
  const auto push = [&out](char32_t byte) { out += static_cast<char>(static_cast<unsigned char>(byte)); };
  if (c < 0x80) return push(c);
  if (c < 0x800) {
    push(0xc0 | c >> 6);
  } else if (c < 0x10000) {
    push(0xe0 | c >> 12);
    push(0x80 | (c >> 6 & 0x3f));
  } else {
    push(0xf0 | c >> 18);
    push(0x80 | (c >> 12 & 0x3f));
    push(0x80 | (c >> 6 & 0x3f));
  }
  push(0x80 | (c & 0x3f));
}

std::string to_utf8(std::span<const std::byte> bytes, std::size_t width) {
  std::string out;
  out.reserve(bytes.size() / width);
  for (std::size_t i = 0; i + width <= bytes.size(); i += width) {
    char32_t c = std::to_integer<char32_t>(bytes[i]);
    if (width == 2) c = bytes_at<char16_t>(bytes, i);
    if (width == 4) c = bytes_at<char32_t>(bytes, i);
    append_utf8(out, c);
  }
  return out;
}

// The bits of PyASCIIObject::state that are the same in all versions; bits for interned or statically allocated strings
// differ.
struct TextState {
  std::uint32_t bits;
  std::size_t width() const { return bits >> 2 & 7; }
  bool compact() const { return (bits >> 5 & 1) != 0; }
  bool ascii() const { return (bits >> 6 & 1) != 0; }
  bool valid() const { return compact() && (width() == 1 || ((width() == 2 || width() == 4) && !ascii())); }
};

// Reads the bytes of a table; at the end it gives zeros and sets a flag.
class Cursor {
 public:
  explicit Cursor(std::span<const std::byte> bytes) : bytes_(bytes) {}
  bool done() const { return next_ >= bytes_.size(); }
  std::uint8_t byte() { return done() ? std::uint8_t{0} : std::to_integer<std::uint8_t>(bytes_[next_++]); }
  void skip(std::size_t n) { next_ += n; }

  std::uint64_t varint() {  // six bits per byte, lowest first
    std::uint64_t out = 0;
    for (unsigned shift = 0; shift < 36; shift += 6) {
      const std::uint8_t b = byte();
      out |= std::uint64_t{b & 0x3fu} << shift;
      if ((b & 0x40) == 0) break;
    }
    return out;
  }
  std::int64_t signed_varint() {
    const auto v = static_cast<std::int64_t>(varint());
    return (v & 1) != 0 ? -(v >> 1) : v >> 1;
  }

 private:
  std::span<const std::byte> bytes_;
  std::size_t next_ = 0;
};

int as_line(std::int64_t line) {
  return line > 0 && line <= std::numeric_limits<int>::max() ? static_cast<int>(line) : 0;
}

// Pairs of a length in bytes and a difference of lines; -128: no line.
int line_by_pairs(Cursor table, std::int64_t line, std::int64_t instruction) {
  std::int64_t end = 0;
  while (!table.done()) {
    end += table.byte();
    const auto delta = static_cast<std::int8_t>(table.byte());
    if (delta != -128) line += delta;
    if (instruction < end) return delta == -128 ? 0 : as_line(line);
  }
  return 0;
}

// An entry of the location table after its first byte: the difference of lines. Returns false if this range has no
// line.
bool take_location(Cursor& table, unsigned code, std::int64_t& line) {
  if (code == 15) return false;
  if (code == 14) {  // line, end line, column, end column
    line += table.signed_varint();
    for (int i = 0; i < 3; ++i) (void)table.varint();
  } else if (code == 13) {  // line only
    line += table.signed_varint();
  } else if (code >= 10) {  // 0 to 2 lines more, and two columns
    line += code - 10;
    table.skip(2);
  } else {
    table.skip(1);
  }
  return true;
}

int line_by_locations(Cursor table, std::int64_t line, std::int64_t instruction) {
  std::int64_t end = 0;
  while (!table.done()) {
    const std::uint8_t first = table.byte();
    if ((first & 0x80) == 0) return 0;  // not the start of an entry
    end += ((first & 7) + 1) * 2;
    const bool has_line = take_location(table, first >> 3 & 15, line);
    if (instruction < end) return has_line ? as_line(line) : 0;
  }
  return 0;
}

}  // namespace

std::optional<std::string> python_text(const Memory& memory, RemoteAddr text, const PythonLayout& layout,
                                       std::size_t limit) {
  std::array<std::byte, kHeader> header{};
  const std::size_t header_size = std::max(layout.text_length, layout.text_state) + 8;
  if (!text || header_size > kHeader || !memory.read_exactly(text, std::span(header).first(header_size)))
    return std::nullopt;
  const TextState state{bytes_at<std::uint32_t>(header, layout.text_state)};
  const auto length = bytes_at<std::uint64_t>(header, layout.text_length);
  if (!state.valid() || length >> 48 != 0) return std::nullopt;
  std::vector<std::byte> bytes(std::min<std::size_t>(limit, length) * state.width());
  const RemoteAddr data = text + (state.ascii() ? layout.ascii_text : layout.compact_text);
  if (!memory.read_exactly(data, bytes)) return std::nullopt;
  return to_utf8(bytes, state.width());
}

std::vector<std::byte> python_bytes(const Memory& memory, RemoteAddr object, const PythonLayout& layout,
                                    std::size_t limit) {
  const auto size = object ? memory.value<std::uint64_t>(object + layout.bytes_size) : std::nullopt;
  if (!size) return {};
  std::vector<std::byte> out(std::min<std::size_t>(limit, *size));
  out.resize(memory.read(object + layout.bytes_data, out));
  return out;
}

int python_line(std::span<const std::byte> table, int first_line, std::int32_t instruction, PythonLayout::Lines kind) {
  if (instruction < 0) return as_line(first_line);
  const auto find = kind == PythonLayout::Lines::Pairs ? line_by_pairs : line_by_locations;
  return find(Cursor(table), first_line, instruction);
}

}  // namespace fade
