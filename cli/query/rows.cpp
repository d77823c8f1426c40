// Rows that do not come from a recording (list, info, probes) go through a database in memory, so that --columns,
// --sort, --where, --limit and the filters mean the same for them.
#include "cli/query/command.hpp"
#include "cli/query/report.hpp"

namespace fade::query {
namespace {

Result<Database> database_of(const std::vector<table::Column>& columns,
                             const std::vector<std::vector<table::Value>>& rows) {
  return Database::in_memory([&](sqlite3* db) {
    std::string names, marks;
    for (const table::Column& c : columns) {
      (names += names.empty() ? "\"" : ", \"") += c.name + "\"";
      marks += marks.empty() ? "?" : ", ?";
    }
    sqlite3_exec(db, ("BEGIN; CREATE TABLE rows (" + names + ")").c_str(), nullptr, nullptr, nullptr);
    sqlite3_stmt* insert = nullptr;
    sqlite3_prepare_v2(db, ("INSERT INTO rows VALUES (" + marks + ")").c_str(), -1, &insert, nullptr);
    for (const auto& row : rows) {
      for (std::size_t i = 0; i < row.size(); ++i) bind_value(insert, static_cast<int>(i) + 1, row[i]);
      sqlite3_step(insert);
      sqlite3_reset(insert);
    }
    sqlite3_finalize(insert);
    sqlite3_exec(db, "COMMIT", nullptr, nullptr, nullptr);
  });
}

}  // namespace

Result<void> print_rows(Context& context, std::string_view name, std::vector<table::Column> columns,
                        const std::vector<std::vector<table::Value>>& rows, std::string_view condition,
                        std::vector<std::string> leave_first) {
  auto db = database_of(columns, rows);
  if (!db) return tl::unexpected(db.error());
  Report report;
  report.name = name;
  report.sql = "SELECT * FROM rows" + (condition.empty() ? "" : "\nWHERE true " + std::string(condition));
  report.leave_first = std::move(leave_first);
  for (table::Column& c : columns) report.columns.push_back({std::move(c.name), c.kind, {}});
  Recording recording{std::string(name), std::move(*db), State::Closed, {}, {}};
  if (context.settings.sql) return usage(std::string(name) + " is not made from SQL", {}, "fade-query reports");
  auto outcome = run_report(recording, report, context.settings, {}, context.output);
  return outcome ? Result<void>{} : tl::unexpected(outcome.error());
}

}  // namespace fade::query
