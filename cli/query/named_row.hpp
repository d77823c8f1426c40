// The rows of pages. Cells are asked for by name, and the SQL stands in schema/reports/page_*.sql.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cli/query/command.hpp"
#include "cli/query/database.hpp"

namespace fade::query {

class NamedRow {
 public:
  using Names = std::vector<std::string>;
  NamedRow() = default;  // has no columns
  NamedRow(std::shared_ptr<const Names> names, Row cells) : names_(std::move(names)), cells_(std::move(cells)) {}

  bool has(std::string_view column) const { return !table::is_null(at(column)); }
  bool is(std::string_view column) const { return number(column) != 0; }
  std::string text(std::string_view column) const;        // printable; empty for NULL
  std::string raw(std::string_view column) const;         // as stored; empty for NULL
  std::int64_t number(std::string_view column) const;     // a fraction is cut off; 0 if it is no number
  const table::Value& at(std::string_view column) const;  // NULL if there is no such column
  void each(const std::function<void(std::string_view column, const table::Value&)>& use) const;

 private:
  std::shared_ptr<const Names> names_;  // of all rows of a statement
  Row cells_;
};
using NamedRows = std::vector<NamedRow>;

// A parameter of one page, besides those that named_rows() binds.
struct Binding {
  const char* parameter;  // with its colon
  table::Value value;
};

// The rows of `sql` for the user: the session, the filters and `more` are bound.
Result<NamedRows> named_rows(const Context& context, Recording& recording, std::string_view sql,
                             const std::vector<Binding>& more = {});
// The rows of `sql` for a session; NULL means all. Filters are NULL.
Result<NamedRows> named_rows(Recording& recording, std::string_view sql, const table::Value& session,
                             const std::vector<Binding>& more = {});

// The rows of the statement one by one, so that only one is in memory. `use` ends this with an error.
Result<void> for_each_row(Statement& statement, const std::function<Result<void>(const NamedRow&)>& use);

// The SQL of the report with the conditions of the session and of the filters that the user gave.
std::string filtered_sql(const Context& context, const Recording& recording, std::string_view report);
// The SQL of the report with all rows.
std::string whole_sql(std::string_view report);
// `page` over the rows of `sql`, which it knows as the table "report".
std::string over(std::string_view sql, std::string_view page);

}  // namespace fade::query
