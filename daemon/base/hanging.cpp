#include "base/hanging.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>

namespace fade {
namespace {

constexpr std::size_t kWidestLabel = 16, kNarrowestText = 20;  // bytes, columns

// In columns, if each character takes one: fade's own messages have no others.
std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

bool is_letter(char c) { return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); }

// Bytes in front of the text of a line.
std::size_t label_of(std::string_view line) {
  const std::size_t word = std::min(line.find_first_not_of(' '), line.size());
  const std::size_t colon = line.find(": ", word), mark = line.find(' ', word);
  const bool is_mark = mark != line.npos && std::ranges::none_of(line.substr(word, mark - word), is_letter);
  const std::size_t end = is_mark ? mark : colon == line.npos ? colon : colon + 1;
  const std::size_t text = std::min(line.find_first_not_of(' ', end), line.size());
  return text <= kWidestLabel ? text : word;
}

void append_broken(std::string& out, std::string_view line, std::size_t width) {
  const std::string_view label = line.substr(0, label_of(line));
  const std::size_t indent = width_of(label), room = std::max(width - std::min(width, indent), kNarrowestText);
  out += label;
  line.remove_prefix(label.size());
  for (std::size_t used = 0; !line.empty();) {
    const std::string_view word = line.substr(0, line.find(' '));
    const std::size_t wide = width_of(word);
    if (used > 0 && used + 1 + wide > room) {
      out += '\n' + std::string(indent, ' ');
      used = 0;
    } else if (used > 0) {
      out += ' ';
      ++used;
    }
    out += word;
    used += wide;
    line.remove_prefix(std::min(line.size(), word.size() + 1));
  }
}

}  // namespace

std::string hanging(std::string_view text, std::size_t width) {
  if (width == 0) return std::string(text);
  std::string out;
  for (;;) {
    const std::string_view line = text.substr(0, text.find('\n'));
    if (width_of(line) <= width) out += line;
    else append_broken(out, line, width);
    if (line.size() == text.size()) return out;
    out += '\n';
    text.remove_prefix(line.size() + 1);
  }
}

unsigned columns_of(int fd) {
  winsize size{};
  return ::isatty(fd) == 1 && ::ioctl(fd, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

}  // namespace fade
