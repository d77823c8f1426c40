#include "cli/query/prose.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/table/text.hpp"

namespace fade::query {
namespace {

constexpr std::size_t kLabel = 12, kNarrowestProse = 30;

}  // namespace

std::vector<std::string> wrapped(std::string_view text, std::size_t width) {
  std::vector<std::string> lines(1);
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    std::string& line = lines.back();
    const bool fits = width == 0 || table::display_width(line) + 1 + table::display_width(word) <= width;
    if (line.empty()) line = word;
    else if (fits) (line += ' ') += word;
    else lines.emplace_back(word);
  }
  return lines;
}

std::int64_t integer(const table::Value& value) {
  if (const auto* n = std::get_if<std::int64_t>(&value)) return *n;
  if (const auto* x = std::get_if<double>(&value)) return static_cast<std::int64_t>(*x);
  return 0;
}

void Prose::put(std::string_view words) {
  if (auto done = context_.output.bytes->write(words); !done && !failed_) failed_ = done.error();
}

std::string Prose::colored(const std::string& words, std::string_view color) const {
  return context_.output.style.terminal.color ? fmt::format("\x1b[{}m{}\x1b[0m", color, words) : words;
}

void Prose::title(const std::string& words, bool alarming) {
  for (const std::string& line : wrapped(table::printable(words), context_.output.style.terminal.width))
    put(colored(line, alarming ? "1;31" : "1") + "\n");
}

void Prose::heading(const std::string& words) { put("\n" + colored(table::printable(words), "1") + "\n"); }

void Prose::entry(std::string_view label, const std::string& words) {
  if (words.empty()) return;
  const std::size_t width = context_.output.style.terminal.width;
  const auto lines =
      wrapped(table::printable(words), width == 0 ? 0 : std::max(width - std::min(width, kLabel), kNarrowestProse));
  for (std::size_t i = 0; i < lines.size(); ++i)
    put(fmt::format("  {:<{}}{}\n", i == 0 ? label : "", kLabel - 2, lines[i]));
}

void Prose::entry(std::string_view label, const table::Value& words) {
  entry(label, table::is_null(words) ? std::string() : table::raw_text(words));
}

void Prose::next(std::string_view report, std::string_view why) {
  const std::string path = context_.named ? table::printable(context_.path) + " " : "";
  put(fmt::format("  fade-query {}{}  {}\n", path, report, why));
}

Result<void> Prose::finish() {
  return failed_ ? Result<void>(tl::unexpected(*failed_)) : context_.output.bytes->flush();
}

}  // namespace fade::query
