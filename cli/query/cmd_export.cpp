// export: every call as a row for other programs. The rows are those of the report export.sql, read page by page, so
// that memory stays the same however long the recording is.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/log.hpp"
#include "cli/query/command.hpp"
#include "cli/query/doubts.hpp"
#include "cli/query/report.hpp"
#include "cli/table/human.hpp"

namespace fade::query {
namespace {

// Those that keep no rows and that a program reads.
constexpr std::array<std::string_view, 4> kFormats{"jsonl", "json", "csv", "tsv"};

Result<table::Format> export_format(const Settings& settings) {
  const table::Format format = wanted_format(settings).value_or(table::Format::Jsonl);
  for (const std::string_view word : kFormats)
    if (table::format_from_word(word) == format) return format;
  return usage("cannot export in this format", "the formats of export are jsonl, json, csv and tsv",
               "fade-query export --format jsonl");
}

// What a reader of the lines alone could not know.
void tell_what_is_missing(Recording& recording, const table::Value& session, const Outcome& outcome) {
  const auto number = [&](const char* sql) {
    const auto value = recording.database.one(sql);
    const auto* n = value ? std::get_if<std::int64_t>(&*value) : nullptr;
    return n ? *n : 0;
  };
  if (const std::int64_t dropped = number("SELECT sum(n) FROM drops WHERE reason NOT GLOB 'results of calls*' AND "
                                          "reason NOT GLOB 'stacks were not kept*'");
      dropped > 0)
    log::info("{} calls are not in the recording: fade-query drops says why", table::human_count(dropped));
  if (const std::int64_t missing = number("SELECT sum(missing) FROM arguments_kept"); outcome.rows > 0 && missing > 0)
    log::info("{} calls have no arguments in the recording: args is null there", table::human_count(missing));
  const std::string partial = why_partial(recording, session, "calls"),
                    rows = why_without_rows(recording, session, "kernels");
  if (outcome.rows > 0 && !partial.empty()) log::info("not everything was recorded: {}", partial);
  if (outcome.rows > 0 && !rows.empty() && rows != partial) log::info("not every call has a row: {}", rows);
  if (outcome.rows > 0) return;
  if (const std::string why = verdict(recording); !why.empty()) return log::info("{}", why);
  if (number("SELECT count(*) FROM sessions WHERE detail = 'stats'") > 0)
    log::info("no calls to export: this was recorded with --detail stats, which keeps counts and times only");
}

}  // namespace

Result<void> export_calls(Context& context, Recording& recording) {
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
  tell_what_is_missing(recording, *session, *outcome);
  return {};
}

}  // namespace fade::query
