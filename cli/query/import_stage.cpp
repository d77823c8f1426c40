#include "cli/query/import_stage.hpp"

#include <fmt/format.h>

#include <string_view>

#include "cli/timeline/utf8.hpp"

namespace fade::query {
namespace {

constexpr std::string_view kStageTables = R"(
CREATE TEMP TABLE in_call (
  id INTEGER PRIMARY KEY, pid INTEGER, tid INTEGER, name TEXT, start INTEGER, "end" INTEGER, corr INTEGER);
CREATE TEMP TABLE in_work (
  id INTEGER PRIMARY KEY, pid INTEGER, tid INTEGER, corr INTEGER, kind INTEGER, is_kernel INTEGER, name TEXT,
    mangled TEXT,
  device INTEGER, queue INTEGER, start INTEGER, "end" INTEGER, bytes INTEGER);
CREATE TEMP TABLE in_operator (
  id INTEGER PRIMARY KEY, pid INTEGER, tid INTEGER, name TEXT, start INTEGER, "end" INTEGER);
CREATE TEMP TABLE in_device (pid INTEGER, number INTEGER, pci TEXT);)";

// A row of a GPU in Kineto's form has no process; a trace is of one.
constexpr std::string_view kFindProcesses = R"(
CREATE TEMP TABLE in_pid AS SELECT DISTINCT pid FROM in_call UNION SELECT DISTINCT pid FROM in_operator
  UNION SELECT DISTINCT pid FROM in_work WHERE pid <> 0;
UPDATE in_work SET pid = (SELECT min(pid) FROM in_pid) WHERE pid = 0 AND (SELECT count(*) FROM in_pid) = 1;
CREATE TEMP TABLE in_process AS
  SELECT pid, max(id) AS process FROM main.process_ WHERE session = {} AND pid IN (SELECT pid FROM in_pid) GROUP BY pid;
CREATE TEMP TABLE in_thread AS
  SELECT p.pid, t.tid, max(t.id) AS thread FROM main.thread_ t JOIN in_process p ON p.process = t.process
    GROUP BY p.pid, t.tid;
CREATE INDEX temp.in_thread_by_tid ON in_thread (pid, tid);)";

constexpr std::string_view kPairCalls = R"(
CREATE TEMP TABLE in_name AS
  SELECT name, min(id) AS n FROM main.function_ WHERE name IN (SELECT DISTINCT name FROM in_call) GROUP BY name;
CREATE INDEX temp.in_name_by_name ON in_name (name);
CREATE TEMP TABLE own_call (thread INTEGER, n INTEGER, ts INTEGER, id INTEGER,
  PRIMARY KEY (thread, n, ts, id)) WITHOUT ROWID;
INSERT INTO own_call SELECT c.thread, i.n, c.ts, c.id FROM main.call_ c JOIN main.function_ f ON f.id = c.fn
  JOIN in_name i ON i.name = f.name WHERE c.thread IN (SELECT thread FROM in_thread);
CREATE TEMP TABLE their_call (thread INTEGER, n INTEGER, ts INTEGER, id INTEGER,
  PRIMARY KEY (thread, n, ts, id)) WITHOUT ROWID;
INSERT INTO their_call SELECT t.thread, i.n, c.start, c.id FROM in_call c
  JOIN in_thread t ON t.pid = c.pid AND t.tid = c.tid JOIN in_name i ON i.name = c.name;
CREATE TEMP TABLE tie (id INTEGER PRIMARY KEY, call INTEGER NOT NULL, apart INTEGER NOT NULL);)";

constexpr std::string_view kMoveTimes = R"(
UPDATE in_call SET start = start + {0}, "end" = "end" + {0};
UPDATE in_work SET start = start + {0}, "end" = "end" + {0};
UPDATE in_operator SET start = start + {0}, "end" = "end" + {0};)";

}  // namespace

Result<void> ImportStage::begin() {
  if (auto done = db_.exec(kStageTables); !done) return done;
  const std::pair<sqlite::Stmt*, std::string_view> statements[] = {
      {&call_, "INSERT INTO in_call (pid, tid, name, start, \"end\", corr) VALUES (?,?,?,?,?,?)"},
      {&work_,
       "INSERT INTO in_work (pid, tid, corr, kind, is_kernel, name, mangled, device, queue, start, \"end\", bytes) "
       "VALUES (?,?,?,?,?,?,?,?,?,?,?,?)"},
      {&operator_, "INSERT INTO in_operator (pid, tid, name, start, \"end\") VALUES (?,?,?,?,?)"},
      {&device_, "INSERT INTO in_device VALUES (?,?,?)"}};
  for (const auto& [to, sql] : statements) {
    auto made = db_.prepare(sql);
    if (!made) return tl::unexpected(made.error());
    *to = std::move(*made);
  }
  return {};
}

Result<void> ImportStage::call(const foreign::HostCall& c) {
  const std::string name = timeline::valid_utf8(c.name);
  call_.bind(c.pid, c.tid, name, c.start, c.end, c.correlation);
  return call_.run();
}

Result<void> ImportStage::work(const foreign::Work& w) {
  const std::string name = timeline::valid_utf8(w.name), mangled = timeline::valid_utf8(w.mangled);
  work_.bind(w.pid, w.tid, w.correlation, static_cast<int>(w.kind), int{w.is_kernel}, name, mangled, w.device, w.queue,
             w.start, w.end, w.bytes);
  return work_.run();
}

Result<void> ImportStage::operation(const foreign::Operator& o) {
  const std::string name = timeline::valid_utf8(o.name);
  operator_.bind(o.pid, o.tid, name, o.start, o.end);
  return operator_.run();
}

Result<void> ImportStage::device(const foreign::Device& d) {
  const std::string pci = timeline::valid_utf8(d.pci);
  device_.bind(d.pid, d.number, pci);
  return device_.run();
}

Result<void> ImportStage::find_processes(std::int64_t session, std::int64_t base) {
  if (base != 0)
    if (auto done = db_.exec(fmt::format(fmt::runtime(kMoveTimes), base)); !done) return done;
  if (auto done = db_.exec(fmt::format(fmt::runtime(kFindProcesses), session)); !done) return done;
  auto n = db_.integer("SELECT count(*) FROM in_process");
  if (!n) return tl::unexpected(n.error());
  processes_ = *n;
  return {};
}

Result<std::string> ImportStage::pids_of_file() {
  return db_.text("SELECT group_concat(pid, ', ') FROM (SELECT pid FROM in_pid ORDER BY pid LIMIT 5)");
}

Result<void> ImportStage::pair_calls() { return db_.exec(kPairCalls); }

}  // namespace fade::query
