#include "cli/query/import_ties.hpp"

#include <fmt/format.h>

#include <string_view>

namespace fade::query {
namespace {

// Times are shifted here; work outside of the recording's time is left out. A work without a call of its correlation,
// or with several, stays untied. Where the file has no calls at all for a process, kernels and launches of one name and
// thread are paired in their order, if there are as many of both.
constexpr std::string_view kTieWorks = R"(
CREATE TEMP TABLE tied_corr (pid INTEGER, corr INTEGER, call INTEGER, PRIMARY KEY (pid, corr)) WITHOUT ROWID;
INSERT INTO tied_corr SELECT c.pid, c.corr, min(t.call) FROM tie t JOIN in_call c ON c.id = t.id WHERE c.corr <> 0
  GROUP BY c.pid, c.corr HAVING count(*) = 1;
CREATE TEMP TABLE has_source AS SELECT process FROM main.gpu_source_ UNION SELECT process FROM main.gpu_work_
  UNION SELECT process FROM main.gpu_count_ WHERE timed > 0;
CREATE TEMP TABLE in_time AS
  SELECT -1000000000 AS first, max(coalesce(s.end_ns - s.start_ns, 0), coalesce((
    SELECT max(ts + coalesce(dur, 0)) FROM main.call_), 0)) + iif(s.end_ns IS NULL, 60000000000, 1000000000) AS last
  FROM main.session_ s WHERE s.id = (SELECT min(x.session) FROM main.process_ x
    WHERE x.id IN (SELECT process FROM in_process));
CREATE TEMP TABLE work AS
  SELECT w.id, p.process, h.thread, w.kind, w.is_kernel, w.name, w.mangled, w.device, w.queue, w.start + {0} AS start,
         w."end" + {0} AS "end", w.bytes, c.call
  FROM in_work w JOIN in_process p ON p.pid = w.pid LEFT JOIN in_thread h ON h.pid = w.pid AND h.tid = w.tid
  LEFT JOIN tied_corr c ON c.pid = w.pid AND c.corr = w.corr AND w.corr <> 0
  WHERE p.process NOT IN (SELECT process FROM has_source) AND w.start + {0} >= (SELECT first FROM in_time)
    AND w."end" + {0} <= (SELECT last FROM in_time);
CREATE TEMP TABLE lone AS
  SELECT w.id, w.thread, w.name, row_number() OVER g AS k, w.start FROM work w
  WHERE w.call IS NULL AND w.is_kernel AND w.thread IS NOT NULL
    AND w.process NOT IN (SELECT p.process FROM in_call c JOIN in_process p ON p.pid = c.pid)
  WINDOW g AS (PARTITION BY w.thread, w.name ORDER BY w.start);
CREATE TEMP TABLE lone_launch AS
  SELECT c.id, c.thread, coalesce(k.demangled, k.name) AS name, c.ts,
         row_number() OVER (PARTITION BY c.thread, coalesce(k.demangled, k.name) ORDER BY c.id) AS k
  FROM main.call_ c JOIN main.launch_ l ON l.id = c.launch AND NOT l.captured JOIN main.kernel_ k ON k.id = l.kernel
  WHERE c.thread IN (SELECT thread FROM lone) AND coalesce(c.result, 0) = 0;
CREATE INDEX temp.lone_by_place ON lone (thread, name, k);
CREATE TEMP TABLE lone_fits AS
  SELECT thread, name FROM (SELECT thread, name, count(*) AS n FROM lone GROUP BY thread, name)
  JOIN (SELECT thread, name, count(*) AS n FROM lone_launch GROUP BY thread, name) USING (thread, name, n);
CREATE TEMP TABLE lone_pair AS
  SELECT o.id, l.id AS call, min(o.start - l.ts) OVER (PARTITION BY o.thread, o.name) AS least
  FROM lone_launch l JOIN lone o USING (thread, name, k) JOIN lone_fits USING (thread, name);
CREATE INDEX temp.work_by_id ON work (id);
UPDATE work SET call = (SELECT call FROM lone_pair x WHERE x.id = work.id AND x.least > -1000000) WHERE call IS NULL
  AND id IN (SELECT id FROM lone_pair);)";

// Facts of each call that the sums need: its kind of copy, its stream (the default one if it names none), and the call
// before it of its thread that put work to run. Both tools number devices their own way: tied works say which number of
// the file is which device, and without any its PCI address does.
constexpr std::string_view kDescribeCalls = R"(
CREATE TEMP TABLE copy_of (call INTEGER PRIMARY KEY, kind INTEGER, bytes INTEGER, stream INTEGER);
INSERT OR IGNORE INTO copy_of SELECT y.call, y.kind, y.bytes, y.stream FROM main.copy_ y
  WHERE y.call IN (SELECT call FROM work WHERE call IS NOT NULL);
CREATE TEMP TABLE placed (call INTEGER PRIMARY KEY, thread INTEGER, ts INTEGER, te INTEGER, previous INTEGER, kind TEXT,
                          stream INTEGER, device INTEGER, direction INTEGER, bytes INTEGER, kernel INTEGER);
INSERT INTO placed
  SELECT c.id, c.thread, c.ts, c.ts + coalesce(c.dur, 0),
         lag(c.ts + coalesce(c.dur, 0)) OVER (PARTITION BY c.thread ORDER BY c.id), f.kind, s.id, s.device, y.kind,
           y.bytes,
         l.kernel
  FROM (SELECT DISTINCT call FROM work WHERE call IS NOT NULL) w JOIN main.call_ c ON c.id = w.call
  JOIN main.function_ f ON f.id = c.fn LEFT JOIN main.launch_ l ON l.id = c.launch LEFT JOIN copy_of y ON y.call = c.id
  LEFT JOIN main.graph_launch_ g ON g.call = c.id
  LEFT JOIN main.stream_ s ON s.id = coalesce(l.stream, y.stream, g.stream, (
    SELECT max(n.id) FROM main.stream_ n WHERE n.handle = 0
      AND n.process = (SELECT t.process FROM main.thread_ t WHERE t.id = c.thread) HAVING count(*) = 1));
CREATE TEMP TABLE device_of AS
  SELECT w.process, w.device AS number, min(p.device) AS device FROM work w JOIN placed p ON p.call = w.call
  WHERE p.device IS NOT NULL GROUP BY w.process, w.device HAVING min(p.device) = max(p.device);
INSERT INTO device_of
  SELECT p.process, i.number, min(d.id) FROM in_device i JOIN in_process p ON p.pid = i.pid
  JOIN main.device_ d ON d.process = p.process AND d.ordinal >= 0 AND lower(d.pci) = lower(i.pci)
  WHERE NOT EXISTS (SELECT 1 FROM device_of o WHERE o.process = p.process AND o.number = i.number)
  GROUP BY p.process, i.number HAVING min(d.id) = max(d.id);)";

Result<ImportedWorks> count_works(sqlite::Db& db) {
  auto row = db.prepare(
      "SELECT (SELECT count(*) FROM work), (SELECT count(call) FROM work), "
      "(SELECT count(*) FROM in_work w JOIN in_process p ON p.pid = w.pid WHERE p.process IN (SELECT process FROM "
      "has_source)), "
      "(SELECT count(*) FROM in_work)");
  if (!row) return tl::unexpected(row.error());
  if (auto got = row->step(); !got) return tl::unexpected(got.error());
  const std::int64_t works = row->integer(0), known = row->integer(2);
  return ImportedWorks{works, row->integer(1), known, row->integer(3) - works - known};
}

}  // namespace

Result<ImportedWorks> tie_works(sqlite::Db& db, std::int64_t shift) {
  if (auto done = db.exec(fmt::format(fmt::runtime(kTieWorks), shift)); !done) return tl::unexpected(done.error());
  if (auto done = db.exec(kDescribeCalls); !done) return tl::unexpected(done.error());
  return count_works(db);
}

}  // namespace fade::query
