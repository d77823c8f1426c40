#include "cli/query/serve_rows.hpp"

#include <algorithm>

#include "schema/schema.hpp"

namespace fade::query::live {
namespace {

constexpr std::int64_t kLookBack = 20'000;  // ids in front of a window: their calls may reach into it
constexpr std::int64_t kDisorder = 2000;    // ids behind a window: their calls may have begun in it
constexpr std::size_t kMostParents = 2000;

Result<Statement> prepared(Recording& recording, std::string_view page) {
  return recording.database.prepare(schema::page_sql(page));
}

CallRow row_of(const Statement& s) {
  CallRow row{s.integer(0), s.integer(1), s.integer(3), s.integer(4), 0, s.integer(6), {}, s.integer(7)};
  if (!s.is_null(2)) row.end = row.start + s.integer(2);
  if (!s.is_null(5)) row.parent = row.id - s.integer(5);
  return row;
}

bool overlaps(const CallRow& row, Window window) {
  return row.start < window.to && (!row.end || *row.end > window.from || row.start >= window.from);
}

Result<void> add_rows(Statement& statement, Ids ids, Window window, std::vector<CallRow>& out) {
  statement.reset();
  statement.bind(":first", ids.first);
  statement.bind(":last", ids.last);
  for (;;) {
    auto row = statement.step();
    if (!row) return tl::unexpected(row.error());
    if (!*row) return {};
    if (CallRow call = row_of(statement); overlaps(call, window)) out.push_back(call);
  }
}

// When the call was left without a return; none: not known.
Result<void> add_ends(Recording& recording, std::vector<CallRow>& rows) {
  auto statement = prepared(recording, "serve_left");
  if (!statement) return tl::unexpected(statement.error());
  for (CallRow& row : rows) {
    if (row.end) continue;
    statement->reset();
    statement->bind(":call", row.id);
    auto found = statement->step();
    if (!found) return tl::unexpected(found.error());
    if (*found) row.end = statement->is_null(0) || statement->integer(0) < 0 ? row.start : statement->integer(0);
  }
  return {};
}

// The calls around those of the window began before them, maybe long ago.
Result<void> add_parents(Statement& statement, Ids ids, Window window, std::vector<CallRow>& rows) {
  std::set<std::int64_t> known, asked;
  std::vector<std::int64_t> wanted;
  for (const CallRow& row : rows) {
    known.insert(row.id);
    if (row.parent >= ids.first) wanted.push_back(row.parent);
  }
  while (!wanted.empty() && asked.size() < kMostParents) {
    const std::int64_t id = wanted.back();
    wanted.pop_back();
    if (known.contains(id) || !asked.insert(id).second) continue;
    const std::size_t before = rows.size();
    if (auto done = add_rows(statement, {id, id}, window, rows); !done) return done;
    if (rows.size() > before && rows.back().parent >= ids.first) wanted.push_back(rows.back().parent);
  }
  return {};
}

}  // namespace

Result<Ids> ids_of(Recording& recording, const table::Value& session) {
  const auto rows = named_rows(recording, schema::page_sql("serve_ids"), session);
  if (!rows) return tl::unexpected(rows.error());
  return rows->empty() ? Ids{} : Ids{rows->front().number("first"), rows->front().number("last")};
}

Result<IdSearch> IdSearch::over(Recording& recording, std::string_view page, Ids ids) {
  auto statement = prepared(recording, page);
  if (!statement) return tl::unexpected(statement.error());
  return IdSearch(std::move(*statement), ids);
}

Result<std::int64_t> IdSearch::first_at(std::int64_t time, Ids within, std::int64_t inexact) {
  std::int64_t low = within.first, high = within.last + 1;
  while (high - low > inexact) {
    const std::int64_t middle = low + (high - low) / 2;
    statement_.reset();
    statement_.bind(":id", middle);
    auto row = statement_.step();
    if (!row) return tl::unexpected(row.error());
    if (!*row || statement_.integer(1) >= time) high = middle;
    else low = statement_.integer(0) + 1;
  }
  return low;
}

Result<std::vector<CallRow>> calls_in(Recording& recording, Window window, Ids ids, std::int64_t from,
                                      std::int64_t to) {
  auto statement = prepared(recording, "serve_rows");
  if (!statement) return tl::unexpected(statement.error());
  std::vector<CallRow> out;
  const Ids wide{std::max(ids.first, from - kLookBack), std::min(ids.last, to - 1 + kDisorder)};
  if (auto done = add_rows(*statement, wide, window, out); !done) return tl::unexpected(done.error());
  if (auto done = add_parents(*statement, ids, window, out); !done) return tl::unexpected(done.error());
  std::ranges::sort(out, {}, [](const CallRow& row) { return std::pair(row.start, row.id); });
  if (auto done = add_ends(recording, out); !done) return tl::unexpected(done.error());
  std::erase_if(out, [&](const CallRow& row) { return !overlaps(row, window); });
  return out;
}

}  // namespace fade::query::live
