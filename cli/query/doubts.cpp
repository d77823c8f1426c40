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

constexpr const char* kIsOlder =
    "SELECT (SELECT count(*) FROM main.sqlite_master WHERE name = 'watched') = 0 AND "
    "(SELECT count(*) FROM main.sqlite_master WHERE name = 'processes') = 1";
// A view that recordings of older builds of this schema lack: they were no parts of others.
constexpr const char* kIsWithoutJobs =
    "SELECT (SELECT count(*) FROM main.sqlite_master WHERE name = 'jobs') = 0 AND "
    "(SELECT count(*) FROM main.sqlite_master WHERE name = 'session_') = 1";
constexpr const char* kJobsOfOlder =
    "CREATE TEMP VIEW jobs AS SELECT id AS session, id AS job, host, boot_id AS machine, 0 AS shift FROM main.session_";
constexpr const char* kOfOlder =
    "CREATE TEMP VIEW watched AS SELECT p.session, p.id AS process_id, p.pid, t.column1 AS topic, 0 AS complete, "
    "'rows' AS level, 1 AS has_rows, "
    "p.start AS since, p.\"end\" AS until, 'unknown' AS narrowed, 'an older fade recorded it, and did not store what "
    "it watched' AS why "
    "FROM main.processes p JOIN (VALUES ('allocations'), ('frees'), ('memory'), ('copies'), ('launches'), ('kernels'), "
    "('waits'), ('streams'), "
    "('graphs'), ('modules'), ('devices'), ('queries'), ('ranges'), ('hip'), ('cuda'), ('nvml'), ('errors'), "
    "('calls')) t";

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
  constexpr std::pair<const char*, const char*> kViews[] = {{kIsOlder, kOfOlder}, {kIsWithoutJobs, kJobsOfOlder}};
  const auto take = [](void* to, int, char** values, char**) {
    *static_cast<bool*>(to) = values[0] && *values[0] == '1';
    return SQLITE_OK;
  };
  for (const auto& [condition, view] : kViews) {
    bool is_missing = false;
    if (sqlite3_exec(db, condition, take, &is_missing, nullptr) == SQLITE_OK && is_missing)
      sqlite3_exec(db, view, nullptr, nullptr, nullptr);
  }
}

}  // namespace fade::query
