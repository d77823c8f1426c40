#include "cli/merge/references.hpp"

#include <algorithm>

#include "base/result.hpp"

namespace fade::merge {
namespace {

// Cuts the text up to `end` off its front.
std::string_view taken(std::string_view& text, char end) {
  const std::size_t at = std::min(text.find(end), text.size());
  const std::string_view out = text.substr(0, at);
  text.remove_prefix(std::min(at + 1, text.size()));
  return out;
}

}  // namespace

References::References(std::string_view text) {
  while (!text.empty()) {
    std::string_view line = taken(text, '\n');
    if (line.empty() || line.front() == '#') continue;
    const std::string_view word = taken(line, '\t');
    while (!line.empty()) add(word, taken(line, ' '));
  }
}

void References::add(std::string_view word, std::string_view column) {
  if (word == "shared") shared_.insert(column);
  else if (word == "file") of_file_.insert(column);
  else FADE_CHECK(words_.emplace(column, word).second);  // the table is fade's own
}

std::optional<Holds> References::in(std::string_view table, std::string_view column) const {
  auto found = words_.find(std::string(table) + "." + std::string(column));
  if (found == words_.end()) found = words_.find(column);
  if (found == words_.end()) return std::nullopt;
  const std::string_view word = found->second;
  if (word == "-") return Holds{};
  if (word == "packed") return Holds{Holds::What::PackedCalls, "call_"};
  return Holds{Holds::What::Ids, std::string(word == "itself" ? table : word)};
}

}  // namespace fade::merge
