#include <fcntl.h>
#include <unistd.h>

#include <fmt/format.h>

#include <algorithm>

#include "base/path.hpp"
#include "base/suggest.hpp"
#include "cli/query/command.hpp"

namespace fade::query {
namespace {

constexpr std::size_t kMostSql = 1 << 20;

Result<std::string> read_stdin() {
  std::string text;
  char buffer[65536];
  for (;;) {
    const ssize_t n = ::read(STDIN_FILENO, buffer, sizeof buffer);
    if (n < 0) return fail_errno("cannot read standard input");
    if (n == 0) return text;
    text.append(buffer, static_cast<std::size_t>(n));
    if (text.size() > kMostSql) return usage("the SQL on standard input is longer than 1 MB");
  }
}

}  // namespace

Error with_nearest_view(Recording& recording, Error e) {
  constexpr std::string_view kMissing = "no such table: ";
  const std::size_t at = e.cause.find(kMissing);
  auto names = recording.database.prepare("SELECT name FROM sqlite_schema WHERE type = 'view' ORDER BY name");
  if (at == e.cause.npos || !names) return e;
  std::vector<std::string> views;
  while (names->step().value_or(false)) views.push_back(table::raw_text(names->value(0)));
  const std::size_t begin = at + kMissing.size(), end = std::min(e.cause.find_first_of(" \n:", begin), e.cause.size());
  e.cause.insert(end, did_you_mean(e.cause.substr(begin, end - begin), views));
  if (e.fix.empty()) e.fix = "fade-query schema      lists the views";
  return e;
}

Result<void> run_user_sql(Context& context, Recording& recording) {
  const Settings& s = context.settings;
  if (context.words.empty())
    return usage("sql needs a statement", {}, "fade-query sql 'SELECT name, calls FROM top LIMIT 5'");
  if (!s.where.empty() || !s.sort.empty() || !s.columns.empty())
    return usage("--where, --sort and --columns are for reports", "with sql the statement says it", {});
  std::string sql = context.words[0];
  if (sql == "-") {
    auto text = read_stdin();
    if (!text) return tl::unexpected(text.error());
    sql = std::move(*text);
  }
  if (s.sql) return context.output.bytes->write(sql + "\n");
  auto outcome = run_sql(recording, sql, s, context.output);
  return outcome ? Result<void>{} : tl::unexpected(with_nearest_view(recording, outcome.error()));
}

Result<void> open_shell(Context& context, Recording& recording) {
  if (::access("/usr/bin/sqlite3", X_OK) != 0 && ::system("command -v sqlite3 >/dev/null 2>&1") != 0)
    return fail("cannot open a shell", "sqlite3 is not installed",
                "sudo apt-get install sqlite3      or: fade-query sql 'SELECT ...'");
  const std::string path = literal_path(recording.path);
  if (auto flushed = context.output.bytes->flush(); !flushed) return flushed;
  ::execlp("sqlite3", "sqlite3", "-readonly", "-header", path.c_str(), static_cast<char*>(nullptr));
  return fail_errno("cannot run sqlite3");
}

}  // namespace fade::query
