#include "cli/query/doubts.hpp"

#include <fmt/format.h>
#include <sqlite3.h>

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

void add_watched_of_older(sqlite3* db) {
  bool is_older = false;
  const auto take = [](void* to, int, char** values, char**) {
    *static_cast<bool*>(to) = values[0] && *values[0] == '1';
    return SQLITE_OK;
  };
  if (sqlite3_exec(db, kIsOlder, take, &is_older, nullptr) == SQLITE_OK && is_older)
    sqlite3_exec(db, kOfOlder, nullptr, nullptr, nullptr);
}

}  // namespace fade::query
