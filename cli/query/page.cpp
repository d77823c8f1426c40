#include "cli/query/page.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "base/hanging.hpp"
#include "base/log.hpp"
#include "cli/query/doubts.hpp"
#include "cli/query/report.hpp"
#include "schema/schema.hpp"

namespace fade::query {
namespace {

constexpr std::size_t kUnlimited = 100;  // where nobody says how wide
constexpr std::size_t kNarrowest = 40;
constexpr std::size_t kWidest = 110;  // longer lines are hard to read
constexpr std::size_t kSeverity = 9;  // columns that the severity takes

std::string colored(const Context& context, std::string_view severity) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kColors{
      {{"error", "\x1b[31m"}, {"warning", "\x1b[33m"}, {"info", "\x1b[36m"}}};
  const std::string padded = fmt::format("{:<{}}", severity, kSeverity);
  if (!context.output.style.terminal.color) return padded;
  for (const auto& [word, color] : kColors)
    if (word == severity) return std::string(color) + padded + "\x1b[0m";
  return padded;
}

Result<void> print_finding(Context& context, const NamedRow& finding, Advice advice) {
  const std::string pids = finding.text("pids");
  const std::string who = pids.find(',') == pids.npos ? "" : ", processes " + pids;
  const std::string indent(2 + kSeverity, ' ');
  std::string text = "  " + colored(context, finding.text("severity")) + bold(context, finding.text("finding")) + "  " +
                     finding.text("subject") + who + "\n";
  text += indent + paragraph(context, finding.text("text"), indent.size()) + "\n";
  if (advice == Advice::Shown)
    text += indent + paragraph(context, "-> " + finding.text("advice"), indent.size()) + "\n";
  return context.output.bytes->write(text);
}

}  // namespace

Result<void> print_report(Context& context, Recording& recording, std::string_view report) {
  if (context.settings.sql) {
    auto sql = sql_of_report(recording, *find_report(report), context.settings, {});
    return sql ? context.output.bytes->write(*sql + ";\n") : tl::unexpected(sql.error());
  }
  auto outcome = run_report(recording, *find_report(report), context.settings, {}, context.output);
  return outcome ? Result<void>{} : tl::unexpected(outcome.error());
}

Result<Outcome> print_part(Context& context, Recording& recording, std::string_view report, Settings settings) {
  settings.may_leave_out = true;
  Output output = context.output;
  output.style.indent = "  ";
  return run_report(recording, *find_report(report), settings, {}, output);
}

Settings part_settings(const Context& context) {
  Settings settings;
  settings.session = context.settings.session;
  settings.units = context.settings.units;
  return settings;
}

void tell_below(const Context& context, const std::string& message) {
  const std::string words = with_recording(context, message);
  if (!context.output.held_back) return log::info("{}", words);
  if (log::level() < log::Level::Info) return;
  (void)context.output.bytes->write(hanging("fade-query: " + words, context.output.style.terminal.width) + "\n");
}

std::string bold(const Context& context, std::string_view text) {
  return context.output.style.terminal.color ? "\x1b[1m" + std::string(text) + "\x1b[0m" : std::string(text);
}

std::string paragraph(const Context& context, std::string_view text, std::size_t indent) {
  const unsigned width = context.output.style.terminal.width;
  const std::size_t room = std::clamp<std::size_t>(width == 0 ? kUnlimited : width, kNarrowest, kWidest);
  const auto lines = wrapped(with_recording(context, std::string(text)), room - indent);
  return fmt::format("{}", fmt::join(lines, "\n" + std::string(indent, ' ')));
}

Result<void> say_no_finding(const Context& context, Recording& recording, std::string_view what) {
  const auto session = chosen_session(context.settings, recording);
  if (!session) return tl::unexpected(session.error());
  const std::string partial = why_partial(recording, *session, "calls");
  const std::string nothing = fmt::format("nothing to report{}", what);
  const std::string text = partial.empty() ? nothing : nothing + " of what was recorded; not all was: " + partial;
  return context.output.bytes->write("  " + paragraph(context, text, 2) + "\n");
}

Result<void> print_findings(Context& context, Recording& recording, Advice advice) {
  auto rows =
      named_rows(context, recording, schema::page_sql(advice == Advice::Shown ? "findings" : "device_findings"));
  if (!rows) return tl::unexpected(rows.error());
  for (const NamedRow& finding : *rows)
    if (auto done = print_finding(context, finding, advice); !done) return done;
  if (rows->empty()) return say_no_finding(context, recording, advice == Advice::Shown ? "" : " about devices");
  const std::string below =
      advice == Advice::Shown ? "man fade-findings says more about each" : "what to do about them: fade-query findings";
  return context.output.bytes->write("  " + paragraph(context, below, 2) + "\n");
}

Result<void> show_findings(Context& context, Recording& recording) {
  if (auto fine = check_filters(context.settings, *find_report("findings")); !fine) return fine;
  return print_findings(context, recording, Advice::Shown);
}

}  // namespace fade::query
