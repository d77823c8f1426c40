#include "cli/query/import_operators.hpp"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace fade::query {
namespace {

constexpr std::size_t kMostNested = 10'000, kMostNames = 100'000;

// Calls with work of the GPU: also those of times that fade has itself.
constexpr std::string_view kFindOperators = R"(
CREATE TEMP TABLE has_operators AS SELECT DISTINCT process FROM main.operator_;
CREATE TEMP TABLE operation AS
  SELECT h.thread, o.start + {0} AS start, o."end" + {0} AS "end", o.name, p.process
  FROM in_operator o JOIN in_process p ON p.pid = o.pid JOIN in_thread h ON h.pid = o.pid AND h.tid = o.tid
  WHERE p.process NOT IN (SELECT process FROM has_operators) AND o.start + {0} >= (SELECT first FROM in_time)
    AND o."end" + {0} <= (SELECT last FROM in_time);
CREATE TEMP TABLE gpu_of_call AS
  SELECT w.thread, c.ts, count(*) AS works, sum(w.dur) AS gpu FROM main.gpu_work_ w JOIN main.call_ c ON c.id = w.call
  WHERE w.kind <> 3 AND w.thread IN (SELECT thread FROM operation) GROUP BY w.call;)";

// Operators and calls of each thread in order of time; an operator comes before what begins with it.
constexpr std::string_view kSweep = R"(
SELECT thread, start, "end", name, process, 0, 0 FROM operation
UNION ALL
SELECT thread, ts, NULL, NULL, NULL, works, gpu FROM gpu_of_call
ORDER BY 1, 2, 3 DESC NULLS LAST)";
enum SweepColumn { kSweepOfThread, kSweepFrom, kSweepUntil, kSweepOperator, kSweepOfProcess, kSweepWorks, kSweepGpu };

class OperatorSweep {
 public:
  OperatorSweep(sqlite::Db& db, std::int64_t import) : db_(db), import_(import) {}
  Result<void> run();

 private:
  struct Open {
    std::int64_t id = 0, name = 0, process = 0, start = 0, end = 0, up = 0, self = 0, works = 0, gpu = 0;
  };
  Result<void> prepare();
  Result<void> add(const sqlite::Stmt& row);
  Result<void> close_until(std::int64_t time);
  Result<void> write(const Open& done);
  Result<std::int64_t> name_id(std::string_view name);

  sqlite::Db& db_;
  const std::int64_t import_;
  sqlite::Stmt insert_, add_name_, find_name_;
  std::vector<Open> open_;
  std::int64_t thread_ = 0, last_ = 0;
  std::unordered_map<std::string, std::int64_t> names_;
};

Result<void> OperatorSweep::prepare() {
  const std::pair<sqlite::Stmt*, const char*> statements[] = {
      {&insert_, "INSERT INTO operator_ VALUES (?,?,?,?,?,?,?,?,?,?,?)"},
      {&add_name_, "INSERT OR IGNORE INTO operator_name_ (name) VALUES (?)"},
      {&find_name_, "SELECT id FROM operator_name_ WHERE name = ?"}};
  for (const auto& [to, sql] : statements) {
    auto made = db_.prepare(sql);
    if (!made) return tl::unexpected(made.error());
    *to = std::move(*made);
  }
  auto last = db_.integer("SELECT max(id) FROM operator_");
  if (!last) return tl::unexpected(last.error());
  last_ = *last;
  return {};
}

Result<std::int64_t> OperatorSweep::name_id(std::string_view name) {
  if (const auto known = names_.find(std::string(name)); known != names_.end()) return known->second;
  add_name_.bind(name);
  if (auto done = add_name_.run(); !done) return tl::unexpected(done.error());
  find_name_.bind(name);
  if (auto row = find_name_.step(); !row) return tl::unexpected(row.error());
  const std::int64_t id = find_name_.integer(0);
  find_name_.reset();
  if (names_.size() >= kMostNames) names_.clear();
  return names_[std::string(name)] = id;
}

Result<void> OperatorSweep::write(const Open& o) {
  insert_.bind(o.id, import_, o.process, thread_, o.name, o.start, o.end - o.start,
               o.up != 0 ? std::optional(o.up) : std::nullopt, o.self, o.works, o.gpu);
  return insert_.run();
}

Result<void> OperatorSweep::close_until(std::int64_t time) {
  while (!open_.empty() && open_.back().end <= time) {
    if (auto done = write(open_.back()); !done) return done;
    open_.pop_back();
  }
  return {};
}

Result<void> OperatorSweep::add(const sqlite::Stmt& row) {
  if (row.integer(kSweepOfThread) != thread_) {
    if (auto done = close_until(INT64_MAX); !done) return done;
    thread_ = row.integer(kSweepOfThread);
  }
  const std::int64_t start = row.integer(kSweepFrom);
  if (auto done = close_until(start); !done) return done;
  if (row.is_null(kSweepOperator)) {
    if (!open_.empty()) open_.back().works += row.integer(kSweepWorks), open_.back().gpu += row.integer(kSweepGpu);
    return {};
  }
  auto name = name_id(row.text(kSweepOperator));
  if (!name) return tl::unexpected(name.error());
  std::int64_t end = row.integer(kSweepUntil);
  const std::int64_t up = open_.empty() ? 0 : open_.back().id;
  if (!open_.empty()) end = std::min(end, open_.back().end), open_.back().self -= end - start;
  if (open_.size() >= kMostNested) return fail("", "its operators are nested too deeply");
  open_.push_back({++last_, *name, row.integer(kSweepOfProcess), start, end, up, end - start, 0, 0});
  return {};
}

Result<void> OperatorSweep::run() {
  if (auto done = prepare(); !done) return done;
  auto rows = db_.prepare(kSweep);
  if (!rows) return tl::unexpected(rows.error());
  for (;;) {
    auto row = rows->step();
    if (!row) return tl::unexpected(row.error());
    if (!*row) return close_until(INT64_MAX);
    if (auto done = add(*rows); !done) return done;
  }
}

}  // namespace

Result<ImportedOperators> import_operators(sqlite::Db& db, std::int64_t import, std::int64_t shift) {
  if (auto done = db.exec(fmt::format(fmt::runtime(kFindOperators), shift)); !done) return tl::unexpected(done.error());
  if (auto done = OperatorSweep(db, import).run(); !done) return tl::unexpected(done.error());
  auto done = db.exec(fmt::format(
      "INSERT INTO operator_stat_ SELECT process, name, count(*), sum(dur), sum(self), max(dur), sum(works), sum(gpu) "
      "FROM operator_ WHERE import = {} GROUP BY process, name",
      import));
  if (!done) return tl::unexpected(done.error());
  auto row = db.prepare(
      "SELECT (SELECT count(*) FROM operation), (SELECT count(*) FROM in_operator o JOIN in_process p ON p.pid = o.pid "
      "WHERE p.process IN (SELECT process FROM has_operators)), (SELECT count(*) FROM in_operator)");
  if (!row) return tl::unexpected(row.error());
  if (auto got = row->step(); !got) return tl::unexpected(got.error());
  return ImportedOperators{row->integer(0), row->integer(1), row->integer(2) - row->integer(0) - row->integer(1)};
}

}  // namespace fade::query
