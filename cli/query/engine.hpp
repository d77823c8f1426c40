// From a report and the user's wishes to rows in a sink: builds the SQL, binds the filters, reads in pieces.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/query/recording.hpp"
#include "cli/query/report.hpp"
#include "cli/query/settings.hpp"
#include "cli/table/formats.hpp"

namespace fade::query {

// How rows leave: format, style and where to. Checked before anything runs.
struct Output {
  table::Format format = table::Format::Table;
  table::Style style;
  table::Bytes* bytes = nullptr;
  bool held_back = false;  // the text comes out after messages: what belongs below it must be a part of it
};

// The session that reports are about: a number, or NULL for all.
Result<table::Value> chosen_session(const Settings& settings, const Recording& recording);

struct Outcome {
  std::string why_nothing;  // of rows for programs, if there are no rows; the table says it itself
  std::int64_t rows = 0;
  bool more = false;                     // the limit cut the result
  std::optional<std::int64_t> left_out;  // how many rows, where that could be told quickly
  std::string remark;                    // what the rows do not have, because it was not recorded; may be empty
  std::int64_t steps = 0;                // of SQLite's virtual machine that the rows took (SQLITE_STMTSTATUS_VM_STEP)
};

// The variant that the user's options choose (memory --peak), or the report itself.
const Report& chosen_variant(const Report& report, const Settings& settings);

// `word`: what stands behind the report's name (schema VIEW); may be empty.
Result<Outcome> run_report(Recording& recording, const Report& report, const Settings& settings,
                           const std::string& word, const Output& output);
// The SQL with the filters' values in it, ready to be pasted.
Result<std::string> sql_of_report(Recording& recording, const Report& report, const Settings& settings,
                                  const std::string& word);
// SQL written by the user.
Result<Outcome> run_sql(Recording& recording, const std::string& sql, const Settings& settings, const Output& output);
// The same into a sink of the caller; `most` rows, nullopt: all.
Result<Outcome> run_sql(Recording& recording, const std::string& sql, const Settings& settings,
                        std::optional<std::int64_t> most, table::RowSink& sink);
// If the error is of a table that does not exist, it names the nearest view.
Error with_nearest_view(Recording& recording, Error error);

// Applies --units and --abs-time on the way to `next`. `epoch_ns`: start of the session, where one was chosen.
std::unique_ptr<table::RowSink> make_converter(const Settings& settings, bool machine,
                                               std::optional<std::int64_t> epoch_ns,
                                               std::unique_ptr<table::RowSink> next);

}  // namespace fade::query
