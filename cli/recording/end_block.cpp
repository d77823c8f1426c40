#include "cli/recording/end_block.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/hanging.hpp"
#include "cli/query/prose.hpp"
#include "cli/table/human.hpp"
#include "cli/table/slowdown.hpp"
#include "cli/table/text.hpp"

namespace fade::cli::recording {

std::string count(std::uint64_t n, std::string_view one, std::string_view many) {
  return table::human_counted(static_cast<std::int64_t>(n), one, many);
}

std::string duration(std::int64_t ns, const Style& style) {
  return table::human_duration(ns, table::Units::Auto, style.utf8);
}

std::string red(const std::string& text, const Style& style) {
  return style.color ? "\x1b[31m" + text + "\x1b[0m" : text;
}

namespace {

std::string bold(const std::string& text, const Style& style) {
  return style.color ? "\x1b[1m" + text + "\x1b[0m" : text;
}

constexpr std::size_t kBeside = 13, kNarrowest = 30;  // columns in front of the text, and of the text at least

std::string line(std::string_view label, const std::string& text) { return fmt::format("  {:<10} {}\n", label, text); }

// The same, broken at the width of the terminal.
std::string line(std::string_view label, const std::string& text, const Style& style) {
  const std::size_t room =
      style.width == 0 ? 0 : std::max(style.width - std::min<std::size_t>(style.width, kBeside), kNarrowest);
  std::string out;
  for (const std::string& part : query::wrapped(text, room)) out += line(out.empty() ? label : "", part);
  return out;
}

std::string slowdown(const RunSummary& s, const Style& style) {
  const CostSummary& c = s.cost;
  return table::slowdown_text({.calls = static_cast<std::int64_t>(s.calls),
                               .tapped = static_cast<std::int64_t>(c.tapped),
                               .taps_ns = c.taps_ns,
                               .threads = static_cast<std::int64_t>(c.threads),
                               .callers = static_cast<std::int64_t>(c.callers),
                               .calls_ns = c.calls_ns,
                               .other_ns = c.other_ns,
                               .busiest_ns = c.busiest_ns,
                               .life_ns = c.life_ns,
                               .is_measured = c.is_measured},
                              style.utf8);
}

// Without fade's own cost.
std::string net(std::int64_t ns, const Style& style) {
  return ns > 0 ? duration(ns, style) : std::string(table::kBelowMeasure);
}

std::string calls(const RunSummary& s, const Style& style) {
  const std::string errors = count(s.errors, "error", "errors");
  return fmt::format("{}, {}", count(s.calls, "call", "calls"), s.errors > 0 ? red(errors, style) : errors);
}

std::string top(const RunSummary& s, const Style& style) {
  if (s.top.empty()) return {};
  std::string text =
      bold(fmt::format("  {:>10} {:>8} {:>12} {:>12}  {}", "calls", "errors", "total", "average", "function"), style) +
      '\n';
  for (const TopFunction& f : s.top) {
    const auto timed = static_cast<std::int64_t>(f.calls - f.untimed);
    text += fmt::format("  {:>10} {:>8} {:>12} {:>12}  {}\n", table::human_count(static_cast<std::int64_t>(f.calls)),
                        f.errors, net(f.total_ns, style), net(timed == 0 ? 0 : f.total_ns / timed, style),
                        table::printable(f.name));
  }
  return text;
}

std::string ran(const RunSummary& s) {
  const std::string text =
      fmt::format("{}, {}", count(s.processes, "process", "processes"), count(s.threads, "thread", "threads"));
  return s.helpers > 0 ? fmt::format("{}, and {}", text, count(s.helpers, "helper", "helpers")) : text;
}

std::string libraries(const RunSummary& s, const Style& style) {
  if (s.libraries.empty()) return line("libraries", "the program loaded no HIP library", style);
  std::string text;
  for (const std::string& library : s.libraries)
    text += line(text.empty() ? "libraries" : "", table::printable(library), style);
  return text;
}

std::string memory(const RunSummary& s) {
  std::string text;
  for (const auto& [device, bytes] : s.peak_memory)
    text +=
        line(text.empty() ? "peak" : "",
             fmt::format("{} on {}", table::human_bytes(static_cast<std::int64_t>(bytes)), table::printable(device)));
  return text;
}

std::string dropped(const RunSummary& s, const Style& style) {
  if (s.dropped > 0) return red(count(s.dropped, "call", "calls"), style);
  if (s.vanished == 0) return s.is_filtered ? "nothing of what was asked for" : "nothing";
  return red("an unknown number of calls: the program took out breakpoints", style);
}

}  // namespace

std::vector<std::string> must_say(const RunSummary& summary, const std::string& trouble) {
  std::vector<std::string> sentences;
  if (summary.dropped > 0)
    sentences.push_back(count(summary.dropped, "call was", "calls were") + " not stored: fade-query drops says why");
  for (const std::string& what : summary.postmortems)
    if (trouble.empty())
      sentences.push_back(
          fmt::format("{}: fade-query {} postmortem", table::printable(what), table::shell_word(summary.database)));
  for (const std::string& note : summary.notes) sentences.push_back("note: " + table::printable(note));
  return sentences;
}

std::string counts_sentence(const RunSummary& summary) {
  return fmt::format("{}: fade-query {} summary", calls(summary, {}), table::shell_word(summary.database));
}

std::string end_block(const RunSummary& s, std::string_view ending, const std::vector<Line>& more, const Style& style,
                      const std::string& trouble) {
  const std::string first = fmt::format("fade: {}, {}, {}", duration(s.duration_ns, style), calls(s, style), ending);
  std::string text = bold(hanging(first, style.width), style) + '\n';
  text += line("ran", ran(s));
  if (trouble.empty()) text += libraries(s, style);
  text += memory(s);
  if (s.overrides_applied > 0) text += line("corrected", count(s.overrides_applied, "answer", "answers"));
  if (s.injected > 0) text += line("injected", count(s.injected, "fault or change", "faults and changes"));
  for (const auto& [label, what] : more) text += line(label, what, style);
  text += line("slowdown", slowdown(s, style), style);
  text += line("dropped", dropped(s, style), style);
  if (trouble.empty()) text += top(s, style);
  for (const std::string& what : s.postmortems)
    if (trouble.empty())
      text += line(what == s.postmortems.front() ? "problem" : "", red(table::printable(what), style), style);
  for (const std::string& note : s.notes) text += line("note", table::printable(note), style);
  if (trouble.empty() && !s.postmortems.empty())
    text += line("details", "fade-query " + table::shell_word(s.database) + " postmortem");
  if (!trouble.empty()) text += "\n" + trouble + "\n";
  return text + line("next", "fade-query " + table::shell_word(s.database) + " summary");
}

}  // namespace fade::cli::recording
