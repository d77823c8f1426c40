#include "cli/query/database.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "base/path.hpp"
#include "cli/query/doubts.hpp"
#include "cli/query/functions.hpp"
#include "cli/table/human.hpp"
#include "store/sqlite_memory.hpp"

namespace fade::query {
namespace {

constexpr int kProgressEvery = 20000;  // virtual machine steps, some 200 us
constexpr const char* kReadingOnly = "one SELECT, for reading only; or copy the file and change the copy with sqlite3";
constexpr int kBusyMs = 5000;
constexpr std::int64_t kMostMemory = std::int64_t{512} << 20;

// Statements about the file that change nothing.
constexpr std::array<std::string_view, 13> kHarmlessPragmas{
    "table_info", "table_xinfo", "table_list",   "index_list",     "index_info",     "index_xinfo", "function_list",
    "page_count", "page_size",   "user_version", "application_id", "collation_list", "data_version"};
// pragma_table_info() and its like ask for this when they declare their columns, in memory. A statement that really
// changes these tables is not read-only (prepare() looks), and a defensive, query-only connection would refuse it too.
constexpr std::array<std::string_view, 2> kSchemaTables{"sqlite_master", "sqlite_schema"};
// They read or write outside the database, or only serve to exhaust memory.
constexpr std::array<std::string_view, 5> kDeniedFunctions{"load_extension", "readfile", "writefile", "edit",
                                                           "fts3_tokenizer"};

template <std::size_t N>
bool contains(const std::array<std::string_view, N>& all, const char* word) {
  return word && std::find(all.begin(), all.end(), std::string_view(word)) != all.end();
}

struct ActionName {
  int action;
  std::string_view text;
};
constexpr ActionName kActionNames[] = {
    {SQLITE_INSERT, "INSERT"},
    {SQLITE_UPDATE, "UPDATE"},
    {SQLITE_DELETE, "DELETE"},
    {SQLITE_ATTACH, "ATTACH"},
    {SQLITE_DETACH, "DETACH"},
    {SQLITE_PRAGMA, "PRAGMA"},
    {SQLITE_TRANSACTION, "a transaction"},
    {SQLITE_SAVEPOINT, "a savepoint"},
    {SQLITE_FUNCTION, "the function"},
    {SQLITE_ALTER_TABLE, "ALTER TABLE"},
    {SQLITE_REINDEX, "REINDEX"},
    {SQLITE_ANALYZE, "ANALYZE"},
};

std::string action_text(int action, const char* a, const char* b) {
  for (const ActionName& row : kActionNames)
    if (row.action == action)
      return std::string(row.text) + (action == SQLITE_FUNCTION && b ? std::string(" ") + b
                                      : action == SQLITE_PRAGMA && a ? std::string(" ") + a
                                                                     : "");
  return "CREATE or DROP";
}

}  // namespace

int Database::authorize(void* guard, int action, const char* a, const char* b, const char*, const char*) {
  const bool allowed = action == SQLITE_SELECT || action == SQLITE_READ || action == SQLITE_RECURSIVE ||
                       (action == SQLITE_FUNCTION && !contains(kDeniedFunctions, b)) ||
                       (action == SQLITE_PRAGMA && contains(kHarmlessPragmas, a)) ||
                       (action == SQLITE_UPDATE && contains(kSchemaTables, a));
  if (!allowed) static_cast<Guard*>(guard)->denied = action_text(action, a, b);
  return allowed ? SQLITE_OK : SQLITE_DENY;
}

int Database::on_progress(void* pointer) {
  auto* guard = static_cast<Guard*>(pointer);
  const bool tells = guard->tells != Telling::No;
  if (guard->stop && *guard->stop) return 1;
  if (!guard->deadline && !tells) return 0;
  const auto now = std::chrono::steady_clock::now();
  if (tells && now >= guard->next) tell(*guard, now);
  return guard->deadline && now >= *guard->deadline ? 1 : 0;
}

void Database::tell(Guard& guard, std::chrono::steady_clock::time_point now) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(now - guard.since).count();
  const std::string rows =
      guard.tells == Telling::ThroughRows && guard.rows > 0 ? table::human_count(guard.rows) + " rows, " : "";
  const std::string line = fmt::format("\rreading, {}{} s ... (Ctrl-C ends it)", rows, seconds);
  guard.told = ::write(STDERR_FILENO, line.data(), line.size()) > 0;
  guard.next = now + std::chrono::seconds(1);
}

void Database::Guard::erase() {
  constexpr std::string_view kErase = "\r\x1b[K";
  if (told && ::write(STDERR_FILENO, kErase.data(), kErase.size()) > 0) told = false;
}

void Database::stop_telling(bool has_row) {
  guard_->rows += has_row;
  if (guard_->tells != Telling::ThroughRows) guard_->erase();
}

void Database::tell_waiting(Telling how) {
  guard_->erase();
  guard_->tells = how;
  guard_->rows = 0;
  guard_->since = std::chrono::steady_clock::now();
  guard_->next = guard_->since + std::chrono::seconds(1);
}

// Tables that a query makes for itself would have a cache and a file each. First of all, because it takes away
// temporary views that are there.
static void keep_own_tables_in_memory(sqlite3* db) {
  sqlite3_exec(db, "PRAGMA temp_store=MEMORY", nullptr, nullptr, nullptr);
}

Result<Database> Database::open(const std::string& path) {
  Database d;
  d.guard_ = std::make_unique<Guard>();
  d.path_ = path;
  sqlite3* raw = nullptr;
  const int code = sqlite3_open_v2(literal_path(path).c_str(), &raw,
                                   SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE, nullptr);
  d.db_.reset(raw);
  if (code != SQLITE_OK) return tl::unexpected(d.error(code, "cannot open " + path));
  keep_own_tables_in_memory(raw);
  add_views_of_newer(raw);
  if (auto done = d.lock_down(); !done) return tl::unexpected(done.error());
  return d;
}

Result<Database> Database::in_memory(const std::function<void(sqlite3*)>& fill) {
  Database d;
  d.guard_ = std::make_unique<Guard>();
  sqlite3* raw = nullptr;
  const int code =
      sqlite3_open_v2(":memory:", &raw, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, nullptr);
  d.db_.reset(raw);
  if (code != SQLITE_OK) return tl::unexpected(d.error(code, "cannot make a table in memory"));
  keep_own_tables_in_memory(raw);
  fill(raw);
  if (auto done = d.lock_down(); !done) return tl::unexpected(done.error());
  return d;
}

Result<Database> Database::adopt(sqlite3* connection, const std::string& path) {
  Database d;
  d.guard_ = std::make_unique<Guard>();
  d.path_ = path;
  d.db_.reset(connection);
  keep_own_tables_in_memory(connection);
  if (auto done = d.lock_down(); !done) return tl::unexpected(done.error());
  return d;
}

// https://www.sqlite.org/security.html, "Untrusted SQLite database files".
Result<void> Database::lock_down() {
  sqlite3* db = db_.get();
  sqlite3_busy_timeout(db, kBusyMs);
  sqlite3_extended_result_codes(db, 1);
  sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
  sqlite3_limit(db, SQLITE_LIMIT_ATTACHED, 0);
  sqlite3_limit(db, SQLITE_LIMIT_LENGTH, 256 << 20);
  sqlite3_limit(db, SQLITE_LIMIT_SQL_LENGTH, 1 << 20);
  sqlite3_limit(db, SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 1000);
  sqlite3_limit(db, SQLITE_LIMIT_WORKER_THREADS, 0);
  arguments_ = std::make_unique<PackedArguments>(db);
  arguments_->install();
  const int code =
      sqlite3_exec(db, "PRAGMA query_only=1; PRAGMA cell_size_check=1; PRAGMA mmap_size=0; PRAGMA cache_size=-65536",
                   nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return tl::unexpected(error(code, "cannot read " + path_));
  stacks_ = std::make_unique<StackTexts>(db);
  register_functions(db, *stacks_);
  sqlite3_set_authorizer(db, authorize, guard_.get());
  sqlite3_progress_handler(db, kProgressEvery, on_progress, guard_.get());
  return {};
}

void Database::limit_time(std::optional<std::chrono::nanoseconds> time) {
  guard_->deadline.reset();
  if (!time) return;
  guard_->deadline =
      std::chrono::steady_clock::now() + std::chrono::duration_cast<std::chrono::steady_clock::duration>(*time);
  limit_text_ = fmt::format("{:g} s", std::chrono::duration<double>(*time).count());
}

// SQLite has a limit of its own, which counts only in programs that do not call use_own_memory().
MemoryLimit::MemoryLimit(std::int64_t bytes) {
  sqlite3_hard_heap_limit64(bytes);
  sqlite::limit_memory(bytes);
}

// The hard limit also lowered the soft one.
MemoryLimit::~MemoryLimit() {
  sqlite3_hard_heap_limit64(0);
  sqlite3_soft_heap_limit64(0);
  sqlite::limit_memory(0);
}

MemoryLimit Database::limit_memory() {
  sqlite3_limit(db_.get(), SQLITE_LIMIT_LENGTH, 16 << 20);
  return MemoryLimit(kMostMemory);
}

Result<void> Database::make_views(const std::string& sql) {
  sqlite3* db = db_.get();
  sqlite3_set_authorizer(db, nullptr, nullptr);
  const std::string all = "PRAGMA query_only=0; " + sql;
  const int code = sqlite3_exec(db, all.c_str(), nullptr, nullptr, nullptr);
  const Error why = error(code, "cannot read " + path_);
  sqlite3_exec(db, "PRAGMA query_only=1", nullptr, nullptr, nullptr);
  sqlite3_set_authorizer(db, authorize, guard_.get());
  return code == SQLITE_OK ? Result<void>{} : tl::unexpected(why);
}

Result<Statement> Database::prepare(std::string_view sql) {
  sqlite3_stmt* raw = nullptr;
  const char* tail = nullptr;
  guard_->denied.clear();
  const int code = sqlite3_prepare_v2(db_.get(), sql.data(), static_cast<int>(sql.size()), &raw, &tail);
  Statement statement(*this, raw);
  if (code != SQLITE_OK) return tl::unexpected(error(code, "cannot run this SQL"));
  if (!raw) return fail("cannot run this SQL", "there is no statement in it", "fade-query sql 'SELECT * FROM top'");
  const std::string_view rest(tail, static_cast<std::size_t>(sql.data() + sql.size() - tail));
  sqlite3_stmt* second = nullptr;
  const int rest_code = sqlite3_prepare_v2(db_.get(), rest.data(), static_cast<int>(rest.size()), &second, nullptr);
  sqlite3_finalize(second);
  if (second || rest_code != SQLITE_OK)
    return fail("cannot run this SQL", "it holds more than one statement", "run one SELECT at a time");
  if (!sqlite3_stmt_readonly(raw)) return fail("cannot run this SQL", "it would write; fade-query only reads");
  return statement;
}

Result<table::Value> Database::one(std::string_view sql) {
  auto statement = prepare(sql);
  if (!statement) return tl::unexpected(statement.error());
  auto row = statement->step();
  if (!row) return tl::unexpected(row.error());
  return *row ? statement->value(0) : table::Value{};
}

Error Database::error(int code, std::string_view doing) const {
  Error e{std::string(doing), db_ ? sqlite3_errmsg(db_.get()) : sqlite3_errstr(code), {}, 0};
  // What runs inside a virtual table is refused as a plain error.
  const bool refused = (code & 0xFF) == SQLITE_ERROR && e.cause == "not authorized";
  switch (refused ? SQLITE_AUTH : code & 0xFF) {
    case SQLITE_INTERRUPT:
      e.cause = "it took longer than " + limit_text_;
      e.fix =
          "allow more time with --timeout 5m; or fade-query index makes filters faster; or count with SELECT "
          "sum(calls) FROM call_stats";
      break;
    case SQLITE_AUTH:
      e.cause = guard_->denied + " is not allowed: fade-query only reads";
      e.fix = kReadingOnly;
      break;
    case SQLITE_NOMEM:
      e.cause = fmt::format("it needs more than {} MB of memory", kMostMemory >> 20);
      e.fix = "select or sort less";
      break;
    case SQLITE_TOOBIG: e.cause = "it makes a text or blob that is too long"; break;
    case SQLITE_BUSY: e.cause = "another process has locked it: " + e.cause; break;
    case SQLITE_NOTADB: e.cause = "it is not an SQLite database, or it is damaged"; break;
    case SQLITE_ERROR:
      e.fix = e.cause.starts_with("cannot modify") ? kReadingOnly
                                                   : "fade-query schema      shows the views and their columns";
      break;
    case SQLITE_CORRUPT: e.fix = "sqlite3 " + path_ + " .recover | sqlite3 recovered.db"; break;
    default: break;
  }
  return e;
}

// SQLite tells it since 3.38.
std::optional<std::size_t> Database::error_place() const {
#if SQLITE_VERSION_NUMBER >= 3038000
  const int place = sqlite3_error_offset(db_.get());
  if (place >= 0) return static_cast<std::size_t>(place);
#endif
  return std::nullopt;
}

void bind_value(sqlite3_stmt* statement, int position, const table::Value& value) {
  if (const auto* n = std::get_if<std::int64_t>(&value)) sqlite3_bind_int64(statement, position, *n);
  else if (const auto* x = std::get_if<double>(&value)) sqlite3_bind_double(statement, position, *x);
  else if (const auto* text = std::get_if<std::string>(&value))
    sqlite3_bind_text(statement, position, text->data(), static_cast<int>(text->size()), SQLITE_TRANSIENT);
  else sqlite3_bind_null(statement, position);
}

void Statement::bind(const char* name, const table::Value& value) {
  const int i = sqlite3_bind_parameter_index(statement_.get(), name);
  if (i > 0) bind_value(statement_.get(), i, value);
}

Result<bool> Statement::step() {
  const int code = sqlite3_step(statement_.get());
  database_->stop_telling(code == SQLITE_ROW);
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  return tl::unexpected(database_->error(code, "cannot finish this query"));
}

void Statement::reset() { sqlite3_reset(statement_.get()); }

std::string Statement::column_name(int i) const {
  const char* name = sqlite3_column_name(statement_.get(), i);
  return name ? name : "";
}

Result<std::vector<Row>> Statement::all() {
  std::vector<Row> out;
  for (;;) {
    auto more = step();
    if (!more) return tl::unexpected(more.error());
    if (!*more) return out;
    Row& row = out.emplace_back();
    for (int i = 0; i < columns(); ++i) row.push_back(value(i));
  }
}

void Database::put_in_texts(std::string_view words, std::string_view instead) {
  guard_->words = words;
  guard_->instead = instead;
}

std::string Database::with_words(std::string text) const {
  const std::size_t at = guard_->words.empty() ? text.npos : text.find(guard_->words);
  return at == text.npos ? text : text.replace(at, guard_->words.size(), guard_->instead);
}

std::string_view Statement::text(int i) {
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement_.get(), i));
  const std::string_view out(text ? text : "", static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), i)));
  if (!database_->changes_texts()) return out;
  replaced_ = database_->with_words(std::string(out));
  return replaced_;
}

table::Value Statement::value(int i) const {
  sqlite3_stmt* s = statement_.get();
  switch (sqlite3_column_type(s, i)) {
    case SQLITE_INTEGER: return sqlite3_column_int64(s, i);
    case SQLITE_FLOAT: return sqlite3_column_double(s, i);
    case SQLITE_TEXT: {
      const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(s, i));
      return database_->with_words(
          std::string(text ? text : "", text ? static_cast<std::size_t>(sqlite3_column_bytes(s, i)) : 0));
    }
    case SQLITE_BLOB: {
      const auto* data = static_cast<const unsigned char*>(sqlite3_column_blob(s, i));
      std::string hex = "x'";
      for (int k = 0; k < sqlite3_column_bytes(s, i); ++k) hex += fmt::format("{:02x}", data[k]);
      return hex + "'";
    }
    default: return {};
  }
}

std::string Statement::expanded_sql() const {
  const std::unique_ptr<char, void (*)(void*)> text(sqlite3_expanded_sql(statement_.get()), sqlite3_free);
  return text ? text.get() : "";
}

}  // namespace fade::query
