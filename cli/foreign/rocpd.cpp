#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <memory>
#include <vector>

#include "base/fd.hpp"
#include "base/path.hpp"
#include "cli/foreign/trace.hpp"
#include "store/sqlite.hpp"

namespace fade::foreign {
namespace {

constexpr std::string_view kSqliteMagic{"SQLite format 3\0", 16};
constexpr std::int64_t kMostTime = std::int64_t{1} << 62;

// Tables have the file's UUID at the end of their names. Views are not read: a file may define them as it likes.
constexpr std::string_view kFindSuffixes =
    "SELECT substr(name, 13) FROM sqlite_master WHERE type = 'table' AND name GLOB 'rocpd_region*' ORDER BY 1 LIMIT "
    "1000";
// Views and virtual tables are not read: a file may define them as it likes, and one may have no end.
constexpr std::string_view kOtherThanTables = R"(
SELECT t.name || '{0}' FROM (SELECT 'rocpd_region' AS name UNION VALUES ('rocpd_info_process'), ('rocpd_info_thread'),
  ('rocpd_string'), ('rocpd_event'), ('rocpd_kernel_dispatch'), ('rocpd_info_kernel_symbol'), ('rocpd_info_agent'),
  ('rocpd_memory_copy')) t
WHERE NOT EXISTS (SELECT 1 FROM sqlite_master m WHERE m.name = t.name || '{0}' COLLATE NOCASE AND m.type = 'table'
                  AND m.sql NOT LIKE 'CREATE VIRTUAL%') LIMIT 1)";
// A join may have no end that anybody waits for, even between tables.
constexpr int kStepsAtOnce = 1'000'000, kMostStepsOfRow = 500;
constexpr std::string_view kCalls = R"(
SELECT p.pid, t.tid, r.start, r."end", coalesce(e.stack_id, 0), s.string
FROM "rocpd_region{0}" r
JOIN "rocpd_info_process{0}" p ON p.id = r.pid
JOIN "rocpd_info_thread{0}" t ON t.id = r.tid
JOIN "rocpd_string{0}" s ON s.id = r.name_id
LEFT JOIN "rocpd_event{0}" e ON e.id = r.event_id
LEFT JOIN "rocpd_string{0}" c ON c.id = e.category_id
WHERE c.string IS NULL OR (c.string NOT GLOB 'MARKER*' AND c.string NOT GLOB 'FADE*'))";
constexpr std::string_view kDispatches = R"(
SELECT p.pid, coalesce(t.tid, 0), k.start, k."end", coalesce(e.stack_id, 0), y.display_name, y.kernel_name,
       iif(a.type = 'GPU', a.type_index, -1), k.queue_id, -1, 1
FROM "rocpd_kernel_dispatch{0}" k
JOIN "rocpd_info_process{0}" p ON p.id = k.pid
JOIN "rocpd_info_kernel_symbol{0}" y ON y.id = k.kernel_id
LEFT JOIN "rocpd_info_thread{0}" t ON t.id = k.tid
LEFT JOIN "rocpd_info_agent{0}" a ON a.id = k.agent_id
LEFT JOIN "rocpd_event{0}" e ON e.id = k.event_id)";
constexpr std::string_view kCopies = R"(
SELECT p.pid, coalesce(t.tid, 0), m.start, m."end", coalesce(e.stack_id, 0), s.string, NULL,
       CASE 'GPU' WHEN d.type THEN d.type_index WHEN f.type THEN f.type_index ELSE -1 END, -1, m.size, 0
FROM "rocpd_memory_copy{0}" m
JOIN "rocpd_info_process{0}" p ON p.id = m.pid
LEFT JOIN "rocpd_string{0}" s ON s.id = m.name_id
LEFT JOIN "rocpd_info_thread{0}" t ON t.id = m.tid
LEFT JOIN "rocpd_info_agent{0}" d ON d.id = m.dst_agent_id
LEFT JOIN "rocpd_info_agent{0}" f ON f.id = m.src_agent_id
LEFT JOIN "rocpd_event{0}" e ON e.id = m.event_id)";

// fade's own files have the address, rocprofv3's the parts of it. Without times: 0.
constexpr std::string_view kAgents = R"(
SELECT p.pid, a.type_index, 0, 0,
       coalesce(json_extract(a.extdata, '$.pci'),
                printf('%04x:%02x:%02x.%x', json_extract(a.extdata, '$.domain'),
                       json_extract(a.extdata, '$.location_id') >> 8,
                       json_extract(a.extdata, '$.location_id') >> 3 & 31,
                       json_extract(a.extdata, '$.location_id') & 7))
FROM "rocpd_info_agent{0}" a
JOIN "rocpd_info_process{0}" p ON p.id = a.pid
WHERE a.type = 'GPU'
  AND iif(json_valid(a.extdata),
          coalesce(json_extract(a.extdata, '$.pci'), json_extract(a.extdata, '$.location_id')), NULL) IS NOT NULL)";

enum WorkColumn { kPid, kTid, kStart, kEnd, kStack, kName, kMangled, kDevice, kQueue, kBytes, kIsKernel };

bool is_plain_suffix(std::string_view suffix) {
  return std::ranges::all_of(suffix, [](unsigned char c) { return std::isalnum(c) || c == '_'; });
}

bool is_time(const sqlite::Stmt& row, int at) {
  return sqlite3_column_type(row.get(), at) == SQLITE_INTEGER && std::abs(row.integer(at)) < kMostTime;
}

Result<void> check_times(const sqlite::Stmt& row) {
  if (!is_time(row, kStart) || !is_time(row, kEnd)) return fail("", "a time in it is no number");
  if (row.integer(kEnd) < row.integer(kStart)) return fail("", "a time in it ends before it begins");
  return {};
}

Result<void> give_call(const sqlite::Stmt& row, Sink& sink) {
  return sink.call({row.integer(kPid), row.integer(kTid), row.integer(kStart), row.integer(kEnd), row.integer(kStack),
                    row.text(kName)});
}

Result<void> give_work(const sqlite::Stmt& row, Sink& sink) {
  const bool is_kernel = row.integer(kIsKernel) != 0;
  const std::string_view mangled = row.text(kMangled), name = row.text(kName);
  return sink.work({.pid = row.integer(kPid),
                    .tid = row.integer(kTid),
                    .correlation = row.integer(kStack),
                    .kind = is_kernel ? kind_of_kernel(mangled.empty() ? name : mangled) : WorkKind::Copy,
                    .is_kernel = is_kernel,
                    .name = name,
                    .mangled = mangled,
                    .device = row.integer(kDevice),
                    .queue = row.integer(kQueue),
                    .start = row.integer(kStart),
                    .end = row.integer(kEnd),
                    .bytes = row.integer(kBytes)});
}

Result<void> give_device(const sqlite::Stmt& row, Sink& sink) {
  return sink.device({row.integer(0), row.integer(1), row.text(4)});
}

using Give = Result<void> (*)(const sqlite::Stmt&, Sink&);

Result<void> read_rows(sqlite::Db& db, std::string_view sql, std::string_view suffix, Sink& sink, Give give) {
  auto statement = db.prepare(fmt::format(fmt::runtime(sql), suffix));
  if (!statement) return fail("", "its tables are not those of rocpd: " + statement.error().cause);
  int steps = 0;
  const auto count = [](void* n) { return int{++*static_cast<int*>(n) > kMostStepsOfRow}; };
  sqlite3_progress_handler(db.get(), kStepsAtOnce, count, &steps);
  const std::unique_ptr<sqlite3, void (*)(sqlite3*)> end(
      db.get(), [](sqlite3* d) { sqlite3_progress_handler(d, 0, nullptr, nullptr); });
  for (;; steps = 0) {
    auto row = statement->step();
    if (!row) return fail("", steps > kMostStepsOfRow ? "its tables take too long to read" : row.error().cause);
    if (!*row) return {};
    if (auto fine = check_times(*statement); !fine) return fine;
    if (auto done = give(*statement, sink); !done) return done;
  }
}

Result<std::vector<std::string>> suffixes_of(sqlite::Db& db) {
  auto statement = db.prepare(kFindSuffixes);
  if (!statement) return tl::unexpected(statement.error());
  std::vector<std::string> out;
  for (;;) {
    auto row = statement->step();
    if (!row) return tl::unexpected(row.error());
    if (!*row) return out;
    if (is_plain_suffix(statement->text(0))) out.emplace_back(statement->text(0));
  }
}

Result<void> read_database(sqlite::Db& db, Sink& sink) {
  auto suffixes = suffixes_of(db);
  if (!suffixes) return fail("", suffixes.error().cause);
  if (suffixes->empty())
    return fail("", "it is an SQLite database of something else: it has no table rocpd_region_...");
  for (const std::string& suffix : *suffixes) {
    auto other = db.text(fmt::format(fmt::runtime(kOtherThanTables), suffix));
    if (!other) return fail("", other.error().cause);
    if (!other->empty()) return fail("", "its tables are not those of rocpd: " + *other + " is no table");
    for (const auto& [sql, give] :
         {std::pair(kCalls, &give_call), {kDispatches, &give_work}, {kCopies, &give_work}, {kAgents, &give_device}})
      if (auto done = read_rows(db, sql, suffix, sink, give); !done) return done;
  }
  return {};
}

}  // namespace

bool is_sqlite(const std::string& path) {
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  char magic[16] = {};
  return fd && ::pread(fd.get(), magic, sizeof magic, 0) == sizeof magic && std::string_view(magic, 16) == kSqliteMagic;
}

bool is_perfetto(const std::string& path) {
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  char begin[64] = {};
  const ssize_t n = fd ? ::pread(fd.get(), begin, sizeof begin, 0) : 0;
  if (n < 3 || begin[0] != '\n') return false;
  const std::string_view rest(begin + 1, static_cast<std::size_t>(n) - 1);
  return std::ranges::any_of(rest, [](char c) { return c >= 0 && c < ' ' && c != '\n' && c != '\r' && c != '\t'; });
}

Result<Origin> read_rocpd(const std::string& path, Sink& sink) {
  auto db = sqlite::Db::open(literal_path(path), SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX);
  if (!db) return tl::unexpected(db.error());
  sqlite3_db_config(db->get(), SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(db->get(), SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  if (auto done = read_database(*db, sink); !done) {
    if (!done.error().message.empty()) return tl::unexpected(done.error());
    return fail("cannot import " + path, done.error().cause, "it takes rocpd databases and Kineto's or Chrome's JSON");
  }
  return Origin{"rocpd", Clock::Boot, 0};
}

}  // namespace fade::foreign
