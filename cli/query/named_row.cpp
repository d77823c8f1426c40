#include "cli/query/named_row.hpp"

namespace fade::query {

Result<std::vector<NamedRow>> named_rows(const Context& context, Recording& recording, std::string_view sql,
                                         const std::string& word) {
  auto session = chosen_session(context.settings, recording);
  if (!session) return tl::unexpected(session.error());
  auto statement = recording.database.prepare(sql);
  if (!statement) return tl::unexpected(statement.error());
  statement->bind(":session", *session);
  statement->bind(":word", word);
  for (const Parameter& p : parameters(context.settings))
    statement->bind((":" + std::string(p.parameter)).c_str(), p.value);
  std::vector<NamedRow> out;
  for (;;) {
    auto more = statement->step();
    if (!more) return tl::unexpected(more.error());
    if (!*more) return out;
    std::map<std::string, table::Value, std::less<>> cells;
    for (int i = 0; i < statement->columns(); ++i) cells.emplace(statement->column_name(i), statement->value(i));
    out.emplace_back(std::move(cells));
  }
}

}  // namespace fade::query
