#include "cli/query/doubts.hpp"

#include <fmt/format.h>
#include <sqlite3.h>

#include <utility>

#include "cli/query/named_row.hpp"

namespace fade::query {
namespace {

constexpr std::string_view kSome =
    "SELECT DISTINCT why FROM watched WHERE {} AND topic = '{}' AND session = coalesce(:session, session) LIMIT 3";
constexpr std::string_view kOpen =
    "NOT complete AND trim(replace(replace(replace(narrowed, 'attach', ''), 'delay', ''), 'detail', ''), ',') <> ''";

// A view that recordings of older builds lack, and one that has what it needs.
struct NewerView {
  std::string_view name, needs;
  const char* sql;
};
constexpr NewerView kNewerViews[] = {
    {"watched", "processes",
     "SELECT p.session, p.id AS process_id, p.pid, t.column1 AS topic, 0 AS complete, 'rows' AS level, 1 AS has_rows, "
     "p.start AS since, p.\"end\" AS until, 'unknown' AS narrowed, 'an older fade recorded it, and did not store what "
     "it watched' AS why "
     "FROM main.processes p JOIN (VALUES ('allocations'), ('frees'), ('memory'), ('copies'), ('launches'), "
     "('kernels'), ('waits'), ('streams'), ('graphs'), ('modules'), ('devices'), ('queries'), ('ranges'), ('hip'), "
     "('cuda'), ('nvml'), ('errors'), ('calls')) t"},
    // such recordings were no parts of others
    {"jobs", "session_", "SELECT id AS session, id AS job, host, boot_id AS machine, 0 AS shift FROM main.session_"},
    {"device_findings", "findings",
     "SELECT * FROM main.findings WHERE finding NOT IN ('audited', 'copy-ping-pong', 'double-free', 'gpu-idle-copy', "
     "'gpu-idle-host', 'gpu-idle-launch', 'gpu-idle-sync', 'grows-with-steps', 'interposed', 'kernels-unnamed', "
     "'out-of-memory', 'preloaded', 'small-copies', 'tiny-kernels', 'unbalanced-ranges', 'unknown-pointer')"},
    {"session_checks", "checks", "SELECT *, NULL AS title FROM main.checks WHERE condition <> 'findings'"},
    {"finding_checks", "checks", "SELECT *, NULL AS title FROM main.checks WHERE condition = 'findings'"},
};

bool has_view(sqlite3* db, std::string_view name) {
  const auto take = [](void* to, int, char** values, char**) {
    *static_cast<bool*>(to) = values[0] && *values[0] != '0';
    return SQLITE_OK;
  };
  bool found = false;
  const std::string sql = fmt::format("SELECT count(*) FROM main.sqlite_master WHERE name = '{}'", name);
  return sqlite3_exec(db, sql.c_str(), take, &found, nullptr) == SQLITE_OK && found;
}

std::string reasons(Recording& recording, const table::Value& session, std::string_view condition,
                    std::string_view topic) {
  const auto rows = named_rows(recording, fmt::format(kSome, condition, topic), session);
  std::string out;
  for (std::size_t i = 0; rows && i < rows->size(); ++i) out += (out.empty() ? "" : "; ") + (*rows)[i].text("why");
  return out;
}

}  // namespace

std::string why_partial(Recording& recording, const table::Value& session, std::string_view topic) {
  return reasons(recording, session, "NOT complete", topic);
}

std::string why_open(Recording& recording, const table::Value& session, std::string_view topic) {
  return reasons(recording, session, kOpen, topic);
}

std::string why_without_rows(Recording& recording, const table::Value& session, std::string_view topic) {
  return reasons(recording, session, "NOT has_rows", topic);
}

std::string remark(Recording& recording, const table::Value& session, std::string_view topic, bool rows) {
  if (topic.empty()) return {};
  const std::string partial = why_partial(recording, session, topic);
  if (!partial.empty()) return "Not everything was recorded: " + partial + ".";
  const std::string without = rows ? why_without_rows(recording, session, topic) : std::string();
  return without.empty() ? without : "Not every call has a row: " + without + ".";
}

void add_views_of_newer(sqlite3* db) {
  for (const NewerView& view : kNewerViews) {
    if (has_view(db, view.name) || !has_view(db, view.needs)) continue;
    sqlite3_exec(db, fmt::format("CREATE TEMP VIEW {} AS {}", view.name, view.sql).c_str(), nullptr, nullptr, nullptr);
  }
}

}  // namespace fade::query
