#include "cli/query/prose.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "cli/query/report.hpp"
#include "cli/table/text.hpp"

namespace fade::query {
namespace {

constexpr std::size_t kLabel = 12, kNarrowestProse = 30;
constexpr std::string_view kProgram = "fade-query ";

bool reads_recording(std::string_view word) {
  const Command* command = find_command(word);
  return command ? command->on_recording != nullptr : find_report(word) != nullptr;
}

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

std::string with_recording(const Context& context, std::string text) {
  if (!context.named) return text;
  const std::string path = table::printable(context.path) + " ";
  for (std::size_t at = 0; (at = text.find(kProgram, at)) != text.npos;) {
    at += kProgram.size();
    const std::size_t end = std::min(text.find_first_not_of("abcdefghijklmnopqrstuvwxyz-_", at), text.size());
    if (reads_recording(std::string_view(text).substr(at, end - at))) text.insert(at, path);
  }
  return text;
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

// Columns beside a label; 0: no limit.
std::size_t Prose::width_beside(std::size_t label) const {
  const std::size_t width = context_.output.style.terminal.width;
  return width == 0 ? 0 : std::max(width - std::min(width, label), kNarrowestProse);
}

void Prose::entry(std::string_view label, const std::string& words) {
  if (words.empty()) return;
  const auto lines = wrapped(table::printable(with_recording(context_, words)), width_beside(kLabel));
  for (std::size_t i = 0; i < lines.size(); ++i)
    put(fmt::format("  {:<{}}{}\n", i == 0 ? label : "", kLabel - 2, lines[i]));
}

void Prose::entry(std::string_view label, const table::Value& words) {
  entry(label, table::is_null(words) ? std::string() : table::raw_text(words));
}

void Prose::next(std::string_view report, std::string_view why) {
  const std::string command = with_recording(context_, fmt::format("{}{}", kProgram, report));
  const auto lines = wrapped(why, width_beside(command.size() + 4));
  put(fmt::format("  {}  {}\n", command, fmt::join(lines, "\n" + std::string(command.size() + 4, ' '))));
}

Result<void> Prose::finish() {
  return failed_ ? Result<void>(tl::unexpected(*failed_)) : context_.output.bytes->flush();
}

}  // namespace fade::query
