#include "cli/timeline/utf8.hpp"

#include <algorithm>

#include "cli/table/text.hpp"

namespace fade::timeline {
namespace {

bool is_plain(char c) { return c >= ' ' && c <= '~' && c != '\\'; }

// Not in the middle of a character.
std::size_t cut_at(std::string_view text) {
  std::size_t at = kMostText;
  while (at > kMostText - 4 && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80) --at;
  return at;
}

}  // namespace

std::string cut_text(std::string_view text) {
  if (text.size() <= kMostText) return std::string(text);
  const std::size_t at = cut_at(text);
  return std::string(text.substr(0, at)) + "... (" + std::to_string(text.size() - at) + " more bytes)";
}

std::string valid_utf8(std::string_view text) {
  std::string out = cut_text(text);
  return std::all_of(out.begin(), out.end(), is_plain) ? out : table::escape(out);
}

}  // namespace fade::timeline
