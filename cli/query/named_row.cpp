#include "cli/query/named_row.hpp"

#include <fmt/format.h>

#include "cli/query/prose.hpp"
#include "cli/query/report.hpp"
#include "cli/table/text.hpp"

namespace fade::query {
namespace {

std::shared_ptr<const NamedRow::Names> names_of(const Statement& statement) {
  NamedRow::Names names;
  for (int i = 0; i < statement.columns(); ++i) names.push_back(statement.column_name(i));
  return std::make_shared<const NamedRow::Names>(std::move(names));
}

Result<NamedRows> rows_from(Statement& statement) {
  const auto shared = names_of(statement);
  auto rows = statement.all();
  if (!rows) return tl::unexpected(rows.error());
  NamedRows out;
  out.reserve(rows->size());
  for (Row& row : *rows) out.emplace_back(shared, std::move(row));
  return out;
}

}  // namespace

const table::Value& NamedRow::at(std::string_view column) const {
  static const table::Value null;
  for (std::size_t i = 0; i < cells_.size(); ++i)
    if ((*names_)[i] == column) return cells_[i];
  return null;
}

std::string NamedRow::text(std::string_view column) const { return table::printable(raw(column)); }
std::string NamedRow::raw(std::string_view column) const { return table::raw_text(at(column)); }
std::int64_t NamedRow::number(std::string_view column) const { return integer(at(column)); }

void NamedRow::each(const std::function<void(std::string_view, const table::Value&)>& use) const {
  for (std::size_t i = 0; i < cells_.size(); ++i) use((*names_)[i], cells_[i]);
}

Result<void> for_each_row(Statement& statement, const std::function<Result<void>(const NamedRow&)>& use) {
  const auto names = names_of(statement);
  for (;;) {
    auto row = statement.step();
    if (!row) return tl::unexpected(row.error());
    if (!*row) return {};
    Row cells;
    for (int i = 0; i < statement.columns(); ++i) cells.push_back(statement.value(i));
    if (auto done = use(NamedRow(names, std::move(cells))); !done) return done;
  }
}

Result<NamedRows> named_rows(const Context& context, Recording& recording, std::string_view sql,
                             const std::vector<Binding>& more) {
  auto session = chosen_session(context.settings, recording);
  if (!session) return tl::unexpected(session.error());
  auto statement = recording.database.prepare(sql);
  if (!statement) return tl::unexpected(statement.error());
  statement->bind(":session", *session);
  for (const Parameter& p : parameters(context.settings))
    statement->bind((":" + std::string(p.parameter)).c_str(), p.value);
  for (const Binding& b : more) statement->bind(b.parameter, b.value);
  return rows_from(*statement);
}

Result<NamedRows> named_rows(Recording& recording, std::string_view sql, const table::Value& session,
                             const std::vector<Binding>& more) {
  auto statement = recording.database.prepare(sql);
  if (!statement) return tl::unexpected(statement.error());
  statement->bind(":session", session);
  for (const Binding& b : more) statement->bind(b.parameter, b.value);
  return rows_from(*statement);
}

std::string filtered_sql(const Context& context, const Recording& recording, std::string_view report) {
  const auto session = chosen_session(context.settings, recording);
  const auto given = parameters(context.settings);
  return find_report(report)->sql_for([&](std::string_view name) {
    if (name == "session") return session && !table::is_null(*session);
    return has_value(given, name);
  });
}

std::string whole_sql(std::string_view report) {
  return find_report(report)->sql_for([](std::string_view) { return false; });
}

std::string over(std::string_view sql, std::string_view page) {
  return fmt::format("WITH report AS (\n{}\n)\n{}", sql, page);
}

}  // namespace fade::query
