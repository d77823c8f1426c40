// index: writes into the recording, and only what SQLite can throw away again.
#include <fmt/format.h>
#include <unistd.h>

#include <array>

#include "base/log.hpp"
#include "base/output_file.hpp"
#include "base/path.hpp"
#include "cli/query/command.hpp"
#include "cli/table/human.hpp"

namespace fade::query {
namespace {

struct Index {
  const char* name;
  const char* on;
  const char* helps;
};
// Partial and small where that serves: most columns of most calls are NULL.
constexpr std::array<Index, 6> kIndexes{{
    {"fade_call_fn", "call_(fn, ts)", "calls --name"},
    {"fade_call_slow", "call_(dur)", "calls --slower-than, --sort -duration_ns"},
    {"fade_call_launch", "call_(launch) WHERE launch IS NOT NULL", "launches"},
    {"fade_copy_call", "copy_(call)", "copies of a call"},
    {"fade_alloc_time", "alloc_(ts, ts_end)", "memory --peak, allocs --from"},
    {"fade_error_time", "error_(ts)", "errors --from"},
}};

struct Close {
  void operator()(sqlite3* db) const { sqlite3_close(db); }
};

struct Progress {
  const char* name;
  std::chrono::steady_clock::time_point since;
  bool shown;
};

int show_progress(void* pointer) {
  auto* p = static_cast<Progress*>(pointer);
  const auto spent = std::chrono::steady_clock::now() - p->since;
  if (!p->shown) return 0;
  const std::string line = fmt::format("\r{}: {:.0f} s ", p->name, std::chrono::duration<double>(spent).count());
  return ::write(STDERR_FILENO, line.data(), line.size()) < 0 ? 0 : 0;
}

Result<void> build(sqlite3* db, const Index& index, bool shown) {
  Progress progress{index.name, std::chrono::steady_clock::now(), shown};
  sqlite3_progress_handler(db, 5000000, show_progress, &progress);
  const int code = sqlite3_exec(db, fmt::format("CREATE INDEX IF NOT EXISTS {} ON {}", index.name, index.on).c_str(),
                                nullptr, nullptr, nullptr);
  sqlite3_progress_handler(db, 0, nullptr, nullptr);
  if (code != SQLITE_OK) return fail(fmt::format("cannot build index {}", index.name), sqlite3_errmsg(db));
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - progress.since).count();
  if (shown && ::write(STDERR_FILENO, "\r", 1) < 0) return {};
  log::info("{} in {:.1f} s, for {}", index.name, seconds, index.helps);
  return {};
}

}  // namespace

Result<void> build_indexes(Context& context, Recording& recording) {
  if (recording.state == State::Running)
    return fail("cannot index " + recording.path, "it is still being recorded, and indexes slow that down much",
                "wait for its end");
  if (auto allowed = check_output_file(recording.path); !allowed) return allowed;
  sqlite3* raw = nullptr;
  const int code =
      sqlite3_open_v2(literal_path(recording.path).c_str(), &raw, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nullptr);
  const std::unique_ptr<sqlite3, Close> db(raw);
  if (code != SQLITE_OK)
    return fail("cannot write " + recording.path, sqlite3_errmsg(raw), "copy it to where you may write");
  if (sqlite3_db_readonly(raw, "main") == 1)
    return fail("cannot write " + recording.path, "the file is read-only for us", "copy it to where you may write");
  // The file's own triggers and views are not trusted with a connection that writes.
  sqlite3_db_config(raw, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(raw, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(raw, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
  sqlite3_busy_timeout(raw, 5000);
  sqlite3_exec(raw, "PRAGMA cache_size=-65536", nullptr, nullptr, nullptr);
  for (const Index& index : kIndexes)
    if (auto built = build(raw, index, context.settings.tell_waiting); !built) return built;
  // Only these tables: where SQLite knows how few processes and threads there are it begins with them, and sorts the
  // calls for every page.
  if (sqlite3_exec(raw, "ANALYZE call_; ANALYZE copy_; ANALYZE alloc_; ANALYZE error_", nullptr, nullptr, nullptr) !=
      SQLITE_OK)
    return fail("cannot analyse " + recording.path, sqlite3_errmsg(raw));
  return {};
}

}  // namespace fade::query
