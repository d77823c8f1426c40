#include "cli/query/headline.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

#include "base/log.hpp"
#include "cli/query/headline_rows.hpp"
#include "cli/query/named_row.hpp"
#include "cli/query/prose.hpp"
#include "cli/query/run_end.hpp"
#include "cli/table/command_line.hpp"
#include "cli/table/human.hpp"
#include "cli/table/text.hpp"
#include "schema/schema.hpp"

namespace fade::query {
namespace {

constexpr std::size_t kMostSessions = 4;
constexpr std::size_t kHeadlineLabel = 10, kHeadlineLines = 20, kNarrowestScreen = 40, kUnlimitedScreen = 100,
                      kMostCommand = 120;

std::string size_of(const NamedRow& run) {
  std::string text = fmt::format("{} process{}", table::human_count(run.number("processes")),
                                 run.number("processes") == 1 ? "" : "es");
  if (const std::int64_t helpers = run.number("helpers"); helpers > 0)
    text += fmt::format(", {} helper{}", table::human_count(helpers), helpers == 1 ? "" : "s");
  if (const std::int64_t ranks = run.number("ranks"); ranks > 0)
    text += fmt::format(", {} rank{}", ranks, ranks == 1 ? "" : "s");
  if (run.has("gpus")) text += ", " + run.text("gpus");
  return text;
}

std::string command_of(const NamedRow& run) { return table::printable(table::short_command(run.text("command"))); }

std::string end_of(const Context& context, const Recording& recording, const NamedRow& run) {
  return run_end(run, recording, [&](std::int64_t ns) {
    return table::human_duration(ns, context.settings.units, context.output.style.terminal.utf8);
  });
}

// Of --session all: each session by its number.
void tell_sessions(const Context& context, const Recording& recording, const std::vector<NamedRow>& runs,
                   Headline& out) {
  out.command = fmt::format("{} sessions", runs.size());
  for (std::size_t i = 0; i < runs.size() && i < kMostSessions; ++i)
    out.ended += fmt::format("{}session {}: {}, {}, {}", i ? "; " : "", runs[i].number("id"), command_of(runs[i]),
                             end_of(context, recording, runs[i]), size_of(runs[i]));
  if (runs.size() > kMostSessions) out.ended += fmt::format("; and {} more", runs.size() - kMostSessions);
}

std::string painted(const Context& context, std::string_view color, const std::string& text) {
  return context.output.style.terminal.color ? fmt::format("\x1b[{}m{}\x1b[0m", color, text) : text;
}

std::size_t width_of(const Context& context) {
  const unsigned width = context.output.style.terminal.width;
  return std::max<std::size_t>(width == 0 ? kUnlimitedScreen : width, kNarrowestScreen);
}

// The label stands in front of the first line; the command has a line of its own, so that it can be copied.
std::vector<std::string> lines_of(const Context& context, const HeadlineRow& row) {
  const std::string text = row.text + (row.line.empty() ? "" : ", at " + row.line);
  std::vector<std::string> out;
  for (const std::string& line : wrapped(text, width_of(context) - kHeadlineLabel)) {
    const std::string label = fmt::format("{:<{}}", out.empty() ? row.label : "", kHeadlineLabel);
    out.push_back(painted(context, row.alarming ? "1;31" : "1", label) + line);
  }
  out.push_back(std::string(kHeadlineLabel, ' ') + with_recording(context, "fade-query " + row.report));
  return out;
}

bool names_its_label(std::string_view text, std::string_view label) {
  const auto equal = [](unsigned char a, unsigned char b) { return std::tolower(a) == std::tolower(b); };
  return std::search(text.begin(), text.end(), label.begin(), label.end(), equal) != text.end();
}

}  // namespace

Result<Headline> headline(const Context& context, Recording& recording) {
  auto run = named_rows(context, recording, schema::page_sql("run"));
  if (!run) return tl::unexpected(run.error());
  Headline out;
  if (run->empty()) return out;
  if (run->size() == 1) {
    out.command = command_of(run->front());
    out.ended = end_of(context, recording, run->front());
    out.size = size_of(run->front());
  } else {
    tell_sessions(context, recording, *run, out);
  }
  out.rows = headline_rows(context, recording);
  return out;
}

std::vector<HeadlineRow> headline_rows(const Context& context, Recording& recording) {
  std::vector<HeadlineRow> out;
  for (const HeadlineSection section : headline_sections()) {
    auto rows = section(context, recording, out);
    if (!rows) {
      log::debug("{}", rows.error().text());
      continue;
    }
    for (HeadlineRow& row : *rows) out.push_back(std::move(row));
  }
  return out;
}

std::string rows_text(const Context& context, std::span<const HeadlineRow> rows, std::size_t most) {
  std::string text;
  std::size_t lines = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto row = lines_of(context, rows[i]);
    const bool is_last = i + 1 == rows.size();
    if (lines + row.size() + (is_last ? 0 : 1) > most)
      return text + with_recording(context, fmt::format("... and {} more: fade-query summary\n", rows.size() - i));
    text += fmt::format("{}\n", fmt::join(row, "\n"));
    lines += row.size();
  }
  return text;
}

// A text whose beginning has the word of its label ("out of memory: ...") stands without the label.
std::vector<std::string> row_sentences(const Context& context, std::span<const HeadlineRow> rows) {
  std::vector<std::string> out;
  for (const HeadlineRow& row : rows) {
    const std::string label =
        names_its_label(row.text.substr(0, row.text.find(':')), row.label) ? "" : row.label + ": ";
    const std::string place = row.line.empty() ? "" : ", at " + row.line;
    out.push_back(with_recording(context, fmt::format("{}{}{}: fade-query {}", label, row.text, place, row.report)));
  }
  return out;
}

std::string headline_text(const Context& context, const Headline& headline) {
  const std::string command = table::shorten_middle(headline.command, kMostCommand, context.output.style.terminal.utf8);
  const std::size_t width = width_of(context);
  auto head = wrapped(command, width);
  for (std::string& line : head) line = painted(context, "1", line);
  for (std::string& line : wrapped(headline.ended + (headline.size.empty() ? "" : ", " + headline.size), width))
    head.push_back(std::move(line));
  const std::string rows =
      rows_text(context, headline.rows, kHeadlineLines - std::min(kHeadlineLines, head.size() + 1));
  return fmt::format("{}\n", fmt::join(head, "\n")) + (rows.empty() ? "" : "\n" + rows);
}

}  // namespace fade::query
