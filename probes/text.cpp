#include "probes/text.hpp"

#include <fmt/format.h>

#include <cstdint>

namespace fade::probes {
namespace {

struct Decoded {
  std::uint32_t code = 0;
  std::size_t length = 0;  // 0: no valid UTF-8 here
};

// Well-formed sequences only (Unicode 15, table 3-7): no overlong forms, no surrogates, nothing over U+10FFFF.
Decoded decode_utf8(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return {first, 1};
  const std::size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < length) return {};
  std::uint32_t code = first & (0x7fU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {};
    code = code << 6 | (byte(i) & 0x3fU);
  }
  constexpr std::uint32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = code >= 0xd800 && code < 0xe000;
  if (code < kSmallest[length] || code > 0x10ffff || surrogate) return {};
  return {code, length};
}

// Code points that change a terminal: C0 and C1 controls, DEL, and marks that turn the direction of writing.
bool acts_on_terminal(std::uint32_t code) {
  return code < 0x20 || (code >= 0x7f && code < 0xa0) || (code >= 0x202a && code <= 0x202e) ||
         (code >= 0x2066 && code <= 0x2069);
}

void append_control(std::string& out, std::uint32_t code, Style style) {
  switch (code) {
    case '\n': out += "\\n"; return;
    case '\t': out += "\\t"; return;
    case '\r': out += "\\r"; return;
    default: break;
  }
  const bool short_form = style == Style::Text && code < 0x80;
  out += short_form ? fmt::format("\\x{:02x}", code) : fmt::format("\\u{:04x}", code);
}

}  // namespace

void append_quoted(std::string& out, std::string_view text, Style style) {
  out += '"';
  while (!text.empty()) {
    const Decoded next = decode_utf8(text);
    if (next.length == 0) {
      const auto byte = static_cast<unsigned char>(text.front());
      out += fmt::format("{}\\x{:02x}", style == Style::Json ? "\\" : "", byte);
    } else if (acts_on_terminal(next.code)) {
      append_control(out, next.code, style);
    } else {
      if (next.code == '"' || next.code == '\\') out += '\\';
      out += text.substr(0, next.length);
    }
    text.remove_prefix(next.length ? next.length : 1);
  }
  out += '"';
}

void append_word(std::string& out, std::string_view word, Style style) {
  if (style == Style::Json) out += '"';
  out += word;
  if (style == Style::Json) out += '"';
}

}  // namespace fade::probes
