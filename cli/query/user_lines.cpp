#include "cli/query/user_lines.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

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

std::vector<schema::View> views_of_this_fade() {
  std::vector<schema::View> found;
  for (const schema::View& view : schema::each_view())
    if (std::ranges::find(kViews, view.name) != kViews.end()) found.push_back(view);
  return found;
}

// True if all of the file's views are those of this fade. One that differs is enough for all to be made again: the
// views of a file read only each other.
bool has_all(Database& database, const std::vector<schema::View>& views) {
  auto statement = database.prepare("SELECT 1 FROM main.sqlite_master WHERE name = :name AND sql = :sql");
  for (const schema::View& view : views) {
    if (!statement) return false;
    statement->bind(":name", std::string(view.name));
    statement->bind(":sql", std::string(view.sql));
    if (auto found = statement->step(); !found || !*found) return false;
    statement->reset();
  }
  return true;
}

}  // namespace

Result<void> use_user_lines(Database& database, const std::string& skip) {
  const std::vector<schema::View> views = views_of_this_fade();
  if (skip.empty() && has_all(database, views)) return {};
  if (!skip.empty())
    if (auto fine = check(database, skip); !fine) return fine;
  std::string sql;
  for (const schema::View& view : views) sql += temporary(view, condition(skip));
  return database.make_views(sql);
}

}  // namespace fade::query
