// reports: all reports and commands by question, or the columns of one report. On a terminal a list with whole
// sentences.
#include <fmt/format.h>

#include <algorithm>

#include "base/suggest.hpp"
#include "cli/query/page.hpp"
#include "cli/query/questions.hpp"
#include "cli/query/report.hpp"

namespace fade::query {
namespace {

struct Entry {
  std::string_view group, name, text;
};

// A heading for each group, then a line for each entry, with the text beside the name.
Result<void> print_list(Context& context, const std::vector<Entry>& entries) {
  std::size_t column = 0;
  for (const Entry& entry : entries) column = std::max(column, entry.name.size() + 4);
  std::string out, group;
  for (const Entry& entry : entries) {
    if (entry.group != group) out += (out.empty() ? "" : "\n") + bold(context, group = entry.group) + "\n";
    out += fmt::format("  {:<{}}{}\n", entry.name, column - 2, paragraph(context, entry.text, column));
  }
  return context.output.bytes->write(out);
}

bool wants_list(const Context& context) {
  const Settings& s = context.settings;
  return context.output.format == table::Format::Table && s.columns.empty() && s.where.empty() && s.sort.empty() &&
         s.name.empty() && !s.limit;
}

Result<void> list_columns(Context& context, const Report& report) {
  using table::Kind;
  std::vector<Entry> entries;
  std::vector<std::vector<table::Value>> rows;
  for (const ReportColumn& c : report.columns) {
    entries.push_back({report.title, c.name, c.help});
    rows.push_back({c.name, std::string(table::kind_word(c.kind)), c.help});
  }
  if (wants_list(context)) return print_list(context, entries);
  return print_rows(context, "reports", {{"column", Kind::Text}, {"kind", Kind::Text}, {"description", Kind::Text}},
                    rows);
}

Result<void> list_all(Context& context) {
  using table::Kind;
  const std::vector<cli::Named> words = words_by_question();
  std::vector<Entry> entries;
  std::vector<std::vector<table::Value>> rows;
  for (const cli::Named& word : words) {
    entries.push_back({word.group, word.name, word.help});
    const Report* report = find_report(word.name);
    rows.push_back({std::string(word.name), std::string(word.group), std::string(word.help),
                    report ? table::Value(static_cast<std::int64_t>(report->columns.size())) : table::Value()});
  }
  if (wants_list(context)) return print_list(context, entries);
  return print_rows(context, "reports",
                    {{"report", Kind::Text}, {"question", Kind::Text}, {"title", Kind::Text}, {"columns", Kind::Count}},
                    rows);
}

}  // namespace

Result<void> list_reports(Context& context) {
  if (context.words.empty()) return list_all(context);
  const std::string& name = context.words[0];
  if (const Report* report = find_report(name)) return list_columns(context, *report);
  std::vector<std::string> known;
  for (const Report& r : reports())
    if (!r.hidden) known.push_back(r.name);
  return usage(fmt::format("there is no report '{}'{}", name, did_you_mean(name, known)), {}, "fade-query reports");
}

}  // namespace fade::query
