#include "cli/query/user_lines.hpp"

#include <array>
#include <string_view>

#include "cli/query/settings.hpp"
#include "schema/schema.hpp"

namespace fade::query {
namespace {

constexpr std::array<std::string_view, 6> kViews{"process_ranks", "frame_places",  "user_frames",
                                                 "user_lines",    "memory_growth", "samples"};
constexpr std::string_view kCreate = "CREATE VIEW ", kMark = "/*skip-frames*/";
constexpr std::string_view kRecordedFrame = "x.frame/*user-frame*/";
constexpr std::string_view kUserFrame =
    "coalesce((SELECT u.frame FROM user_frames u WHERE u.stack = x.stack), x.frame)";

std::string sql_text_of(std::string_view text) {
  std::string out = "'";
  for (const char c : text) (out += c) += c == '\'' ? "'" : "";
  return out + "'";
}

std::string condition(const std::string& skip) {
  if (skip.empty()) return {};
  const std::string pattern = sql_text_of(skip);
  return "OR f.file REGEXP " + pattern + " OR f.name REGEXP " + pattern;
}

void replace(std::string& text, std::string_view what, std::string_view with) {
  if (const std::size_t at = text.find(what); at != text.npos) text.replace(at, what.size(), with);
}

std::string temporary(const schema::View& view, const std::string& more) {
  std::string sql(view.sql);
  replace(sql, kMark, more);
  if (!more.empty()) replace(sql, kRecordedFrame, kUserFrame);
  return "DROP VIEW IF EXISTS temp." + std::string(view.name) + "; CREATE TEMP VIEW " + sql.substr(kCreate.size()) +
         ";\n";
}

Result<void> check(Database& database, const std::string& skip) {
  auto statement = database.prepare("SELECT '' REGEXP :pattern");
  if (!statement) return tl::unexpected(statement.error());
  statement->bind(":pattern", skip);
  if (auto tried = statement->step(); !tried)
    return usage("cannot use --skip-frames '" + skip + "'", tried.error().cause, "write \\( for a parenthesis");
  return {};
}

}  // namespace

Result<void> use_user_lines(Database& database, const std::string& skip) {
  if (!skip.empty())
    if (auto fine = check(database, skip); !fine) return fine;
  std::string sql;
  for (const schema::View& view : schema::each_view())
    for (const std::string_view name : kViews)
      if (view.name == name) sql += temporary(view, condition(skip));
  return database.make_views(sql);
}

}  // namespace fade::query
