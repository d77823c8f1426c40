#include "cli/table/text.hpp"

#include <fmt/format.h>
#include <wchar.h>

#include <algorithm>
#include <vector>

namespace fade::table {
namespace {

struct Char {
  char32_t code = 0;
  unsigned bytes = 1;
  bool valid = false;
};

bool is_continuation(unsigned char c) { return (c & 0xC0) == 0x80; }

// One character of UTF-8 (RFC 3629: no overlong forms, no surrogates, nothing above U+10FFFF).
Char decode(std::string_view s) {
  const auto first = static_cast<unsigned char>(s[0]);
  if (first < 0x80) return {first, 1, true};
  const unsigned n = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || s.size() < n) return {first, 1, false};
  char32_t code = first & (0xFFu >> (n + 1));
  for (unsigned i = 1; i < n; ++i) {
    const auto c = static_cast<unsigned char>(s[i]);
    if (!is_continuation(c)) return {first, 1, false};
    code = code << 6 | (c & 0x3Fu);
  }
  constexpr char32_t kSmallest[5] = {0, 0, 0x80, 0x800, 0x10000};
  if (code < kSmallest[n] || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) return {first, 1, false};
  return {code, n, true};
}

template <class Visit>
void for_each_char(std::string_view s, Visit&& visit) {
  while (!s.empty()) {
    const Char c = decode(s);
    visit(c, s.substr(0, c.bytes));
    s.remove_prefix(c.bytes);
  }
}

// U+061C, U+200E..F, U+202A..E, U+2066..9 change the order of what is shown; U+2028/9 end a line.
bool is_dangerous(char32_t c) {
  return c < 0x20 || (c >= 0x7F && c < 0xA0) || c == 0x61C || c == 0x200E || c == 0x200F ||
         (c >= 0x2028 && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069) || c == 0xFEFF;
}

void append_escaped(std::string& out, const Char& c) {
  if (c.code == '\n') out += "\\n";
  else if (c.code == '\t') out += "\\t";
  else if (c.code == '\r') out += "\\r";
  else if (!c.valid || c.code < 0x80) out += fmt::format("\\x{:02x}", static_cast<unsigned>(c.code));
  else out += fmt::format("\\u{:04x}", static_cast<unsigned>(c.code));
}

// What the terminal has no glyph for, or no way to say how wide it is; in the C locale that is all but ASCII.
bool is_unprintable(char32_t c) { return c >= 0x80 && ::wcwidth(static_cast<wchar_t>(c)) < 0; }

template <class Bad>
std::string escape_with(std::string_view text, std::string_view backslash, Bad bad) {
  std::string out;
  out.reserve(text.size());
  for_each_char(text, [&](const Char& c, std::string_view bytes) {
    if (!c.valid || bad(c.code)) append_escaped(out, c);
    else if (c.code == '\\') out += backslash;
    else out += bytes;
  });
  return out;
}

std::size_t width_of(const Char& c) {
  if (!c.valid) return 1;
  const int w = ::wcwidth(static_cast<wchar_t>(c.code));
  return w < 0 ? 1 : static_cast<std::size_t>(w);
}

// As many characters from one end of `chars` as fit into `width`.
template <class It>
std::size_t fitting(It at, It end, std::size_t width, std::size_t& used) {
  std::size_t n = 0;
  for (used = 0; at != end && used + at->second <= width; ++at, ++n) used += at->second;
  return n;
}

}  // namespace

std::string escape(std::string_view text) { return escape_with(text, "\\\\", is_dangerous); }
std::string printable(std::string_view text) {
  return escape_with(text, "\\", [](char32_t c) { return is_dangerous(c) || is_unprintable(c); });
}

std::string json_quote(std::string_view text) {
  std::string out = "\"";
  for_each_char(text, [&](const Char& c, std::string_view bytes) {
    if (!c.valid) out += fmt::format("\\\\x{:02x}", static_cast<unsigned>(c.code));
    else if (c.code == '"' || c.code == '\\') (out += '\\') += bytes;
    else if (c.code == '\n') out += "\\n";
    else if (c.code == '\t') out += "\\t";
    else if (is_dangerous(c.code)) out += fmt::format("\\u{:04x}", static_cast<unsigned>(c.code));
    else out += bytes;
  });
  return out += '"';
}

std::string json_on_one_line(std::string_view json) {
  std::string out;
  out.reserve(json.size());
  for_each_char(json, [&](const Char& c, std::string_view bytes) {
    if (c.code == '\n' || c.code == '\r' || c.code == '\t') return;  // only between values
    if (!c.valid) out += fmt::format("\\u{:04x}", static_cast<unsigned>(static_cast<unsigned char>(bytes.front())));
    else if (is_dangerous(c.code)) out += fmt::format("\\u{:04x}", static_cast<unsigned>(c.code));
    else out += bytes;
  });
  return out;
}

std::string shell_word(const std::string& word) {
  const auto harmless = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("_-./+,:@%").find(c) != std::string_view::npos;
  };
  if (!word.empty() && std::ranges::all_of(word, harmless)) return word;
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? "'\\''" : std::string(1, c);
  return printable(quoted + "'");
}

std::string csv_quote(std::string_view text) {
  const std::string safe = escape_with(text, "\\", is_dangerous);
  if (safe.find_first_of(",\"") == std::string::npos && !safe.starts_with(' ') && !safe.ends_with(' ')) return safe;
  std::string out = "\"";
  for (const char c : safe) {
    if (c == '"') out += '"';
    out += c;
  }
  return out += '"';
}

std::string markdown_cell(std::string_view text) {
  std::string out;
  for (const char c : printable(text)) {
    // Markup in a name must stay text: demangled kernels are full of < > * _.
    if (std::string_view("|*_<>`[]").find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  for_each_char(text, [&](const Char& c, std::string_view) { width += width_of(c); });
  return width;
}

namespace {

enum class Kept { BothEnds, Begin };

std::string shorten(std::string_view text, std::size_t width, bool utf8, Kept kept) {
  if (display_width(text) <= width) return std::string(text);
  const std::string_view dots = utf8 ? "…" : width >= 8 ? "..." : ".";
  const std::size_t dots_width = utf8 ? 1 : dots.size();
  if (width <= dots_width) return std::string(width, '.');
  std::vector<std::pair<std::string_view, std::size_t>> chars;
  for_each_char(text, [&](const Char& c, std::string_view bytes) { chars.emplace_back(bytes, width_of(c)); });
  const std::size_t room = width - dots_width;
  std::size_t used = 0, tail_used = 0;
  const std::size_t head = fitting(chars.begin(), chars.end(), kept == Kept::Begin ? room : (room + 1) / 2, used);
  const std::size_t tail = kept == Kept::Begin ? 0 : fitting(chars.rbegin(), chars.rend(), room - used, tail_used);
  std::string out;
  for (std::size_t i = 0; i < head; ++i) out += chars[i].first;
  out += dots;
  for (std::size_t i = chars.size() - tail; i < chars.size(); ++i) out += chars[i].first;
  return out;
}

}  // namespace

std::string shorten_middle(std::string_view text, std::size_t width, bool utf8) {
  return shorten(text, width, utf8, Kept::BothEnds);
}

std::string shorten_end(std::string_view text, std::size_t width, bool utf8) {
  return shorten(text, width, utf8, Kept::Begin);
}

}  // namespace fade::table
