#include "cli/query/page.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "base/log.hpp"
#include "cli/query/report.hpp"
#include "cli/table/text.hpp"

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

Result<void> print_finding(Context& context, const Row& row, Advice advice) {
  const std::string pids = page_text(row[5]);
  const std::string who = pids.find(',') == pids.npos ? "" : ", processes " + pids;
  table::Bytes& out = *context.output.bytes;
  std::string text = "  " + colored(context, page_text(row[0])) + bold(context, page_text(row[1])) + "  " +
                     page_text(row[2]) + who + "\n";
  text += std::string(2 + kSeverity, ' ') + paragraph(context, page_text(row[3]), 2 + kSeverity) + "\n";
  if (advice == Advice::Shown)
    text += std::string(2 + kSeverity, ' ') + paragraph(context, "-> " + page_text(row[4]), 2 + kSeverity) + "\n";
  return out.write(text);
}

}  // namespace

Result<std::vector<Row>> rows_for(const Context& context, Recording& recording, std::string_view sql,
                                  const std::string& word) {
  auto session = chosen_session(context.settings, recording);
  if (!session) return tl::unexpected(session.error());
  auto statement = recording.database.prepare(sql);
  if (!statement) return tl::unexpected(statement.error());
  statement->bind(":session", *session);
  statement->bind(":word", word);
  for (const Parameter& p : parameters(context.settings))
    statement->bind((":" + std::string(p.parameter)).c_str(), p.value);
  return statement->all();
}

void tell_below(const Context& context, const std::string& message) {
  if (!context.output.held_back) return log::info("{}", message);
  if (log::level() >= log::Level::Info) (void)context.output.bytes->write("fade-query: " + message + "\n");
}

std::string page_text(const table::Value& value) { return table::printable(table::raw_text(value)); }

std::string bold(const Context& context, std::string_view text) {
  return context.output.style.terminal.color ? "\x1b[1m" + std::string(text) + "\x1b[0m" : std::string(text);
}

std::string paragraph(const Context& context, std::string_view text, std::size_t indent) {
  const unsigned width = context.output.style.terminal.width;
  const std::size_t room = std::clamp<std::size_t>(width == 0 ? kUnlimited : width, kNarrowest, kWidest);
  return fmt::format("{}", fmt::join(wrapped(text, room - indent), "\n" + std::string(indent, ' ')));
}

Result<void> print_findings(Context& context, Recording& recording, Advice advice) {
  auto rows =
      rows_for(context, recording,
               "SELECT severity, finding, subject, text, advice, group_concat(DISTINCT pid) FROM findings "
               "WHERE session = coalesce(:session, session) AND (:pid IS NULL OR pid = :pid) AND (:device IS NULL OR "
               "device = :device) "
               "AND (:rank IS NULL OR (session, pid) IN (SELECT session, pid FROM process_ranks WHERE rank = :rank)) "
               "AND (:word = '' OR :name IS NULL OR finding REGEXP :name) "
               "GROUP BY session, severity, finding, subject, text, advice "
               "ORDER BY CASE severity WHEN 'error' THEN 1 WHEN 'warning' THEN 2 ELSE 3 END, subject, finding",
               advice == Advice::Shown ? "by name" : "");  // --name of devices is about devices
  if (!rows) return tl::unexpected(rows.error());
  for (const Row& row : *rows)
    if (auto done = print_finding(context, row, advice); !done) return done;
  if (rows->empty()) return context.output.bytes->write("  nothing to report\n");
  return context.output.bytes->write(advice == Advice::Shown ? "  man fade-findings says more about each\n"
                                                             : "  what to do about them: fade-query findings\n");
}

Result<void> show_findings(Context& context, Recording& recording) {
  if (auto fine = check_filters(context.settings, *find_report("findings")); !fine) return fine;
  return print_findings(context, recording, Advice::Shown);
}

}  // namespace fade::query
