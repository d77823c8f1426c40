// export: every call as a row for other programs. The rows are those of the report export.sql, read page by page, so
// that memory stays the same however long the recording is.
#include <algorithm>
#include <array>

#include "cli/query/command.hpp"
#include "cli/query/export_doubts.hpp"
#include "cli/query/report.hpp"

namespace fade::query {
namespace {

// Those that keep no rows and that a program reads.
constexpr std::array<std::string_view, 4> kFormats{"jsonl", "json", "csv", "tsv"};

Result<table::Format> export_format(const Settings& settings) {
  const table::Format format = wanted_format(settings).value_or(table::Format::Jsonl);
  for (const std::string_view word : kFormats)
    if (table::format_from_word(word) == format) return format;
  return usage("cannot export in this format",
               "the formats of export are jsonl, json, csv and tsv, and of viewers perfetto, chrome and kineto",
               "fade-query export --format jsonl");
}

}  // namespace

Result<void> export_calls(Context& context, Recording& recording) {
  if (!context.settings.timeline_format.empty()) return export_timeline(context, recording);
  const Report& report = *find_report("export");
  const auto format = export_format(context.settings);
  if (!format) return tl::unexpected(format.error());
  if (context.settings.sql) {
    auto sql = sql_of_report(recording, report, context.settings, {});
    return sql ? context.output.bytes->write(*sql + ";\n") : tl::unexpected(sql.error());
  }
  Output output = context.output;
  output.format = *format;
  const auto outcome = run_report(recording, report, context.settings, {}, output);
  if (!outcome) return tl::unexpected(outcome.error());
  const auto session = chosen_session(context.settings, recording);
  if (!session) return tl::unexpected(session.error());
  tell_what_is_missing(recording, *session, outcome->rows);
  return {};
}

}  // namespace fade::query
