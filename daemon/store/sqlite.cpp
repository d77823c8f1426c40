#include "store/sqlite.hpp"

#include <sys/resource.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace fade::sqlite {
namespace {

// The size that a file may have, in parentheses. The text is empty if there is no limit.
std::string limit_of_files() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return {};
  return " (a file may have " + std::to_string(limit.rlim_cur) + " bytes here: ulimit -f)";
}

// The system's reason for an error with that primary code, in parentheses. `system` is the errno that SQLite kept. It
// is 0 for a write of a commit; then a limit of the file's size is the likely reason.
std::string reason_of(int primary, int system) {
  if (primary != SQLITE_IOERR && primary != SQLITE_CANTOPEN && primary != SQLITE_FULL) return {};
  if (primary == SQLITE_IOERR && (system == 0 || system == EFBIG))
    if (std::string limit = limit_of_files(); !limit.empty()) return limit;
  return system == 0 ? std::string() : std::string(" (") + std::strerror(system) + ")";
}

Error error_of(sqlite3* db, std::string doing) {
  const int code = db ? sqlite3_extended_errcode(db) : SQLITE_NOMEM;
  std::string cause = db ? sqlite3_errmsg(db) : "out of memory";
  cause += reason_of(code & 0xff, db ? sqlite3_system_errno(db) : 0);
  if (code == SQLITE_READONLY_DBMOVED) cause = "the file was removed or renamed meanwhile";
  return Error{std::move(doing), std::move(cause), {}, code};
}

}  // namespace

void Stmt::bind_text(int at, std::string_view value) {
  sqlite3_bind_text64(get(), at, value.data() ? value.data() : "", value.size(), SQLITE_STATIC, SQLITE_UTF8);
}

void Stmt::bind_blob(int at, std::span<const std::byte> value) {
  sqlite3_bind_blob64(get(), at, value.empty() ? "" : static_cast<const void*>(value.data()), value.size(),
                      SQLITE_STATIC);
}

Result<bool> Stmt::step() {
  const int code = sqlite3_step(get());
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  return tl::unexpected(error_of(sqlite3_db_handle(get()), "statement failed"));
}

Result<void> Stmt::run() {
  for (;;) {
    Result<bool> row = step();
    if (row && *row) continue;
    reset();
    if (!row) return tl::unexpected(std::move(row.error()));
    return {};
  }
}

void Stmt::reset() { sqlite3_reset(get()); }

std::string_view Stmt::column_name(int at) const {
  const char* name = sqlite3_column_name(get(), at);
  return name ? name : "";
}

std::string_view Stmt::text(int at) const {
  const auto* bytes = reinterpret_cast<const char*>(sqlite3_column_text(get(), at));
  if (!bytes) return {};
  return {bytes, static_cast<std::size_t>(sqlite3_column_bytes(get(), at))};
}

std::span<const std::byte> Stmt::blob(int at) const {
  const auto* bytes = static_cast<const std::byte*>(sqlite3_column_blob(get(), at));
  if (!bytes) return {};
  return {bytes, static_cast<std::size_t>(sqlite3_column_bytes(get(), at))};
}

Result<Db> Db::open(const std::string& path, int flags) {
  sqlite3* raw = nullptr;
  const int code = sqlite3_open_v2(path.c_str(), &raw, flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, nullptr);
  Db db;
  db.db_.reset(raw);
  if (code != SQLITE_OK) return tl::unexpected(db.error("cannot open " + path));
  return db;
}

Error Db::error(std::string doing) const { return error_of(get(), std::move(doing)); }

Result<void> Db::exec(std::string_view sql) {
  if (sqlite3_exec(get(), std::string(sql).c_str(), nullptr, nullptr, nullptr) != SQLITE_OK)
    return tl::unexpected(error("statement failed"));
  return {};
}

Result<Stmt> Db::prepare(std::string_view sql) {
  sqlite3_stmt* stmt = nullptr;
  if (sqlite3_prepare_v3(get(), sql.data(), static_cast<int>(sql.size()), SQLITE_PREPARE_PERSISTENT, &stmt, nullptr) !=
      SQLITE_OK)
    return tl::unexpected(error("cannot prepare a statement"));
  return Stmt(stmt);
}

Result<std::int64_t> Db::integer(std::string_view sql) {
  Result<Stmt> stmt = prepare(sql);
  if (!stmt) return tl::unexpected(std::move(stmt.error()));
  const Result<bool> row = stmt->step();
  if (!row) return tl::unexpected(row.error());
  return *row ? stmt->integer(0) : 0;
}

Result<std::string> Db::text(std::string_view sql) {
  Result<Stmt> stmt = prepare(sql);
  if (!stmt) return tl::unexpected(std::move(stmt.error()));
  const Result<bool> row = stmt->step();
  if (!row) return tl::unexpected(row.error());
  return *row ? std::string(stmt->text(0)) : std::string();
}

Result<Txn> Txn::begin(Db& db, std::string_view how) {
  if (Result<void> begun = db.exec(how); !begun) return tl::unexpected(std::move(begun.error()));
  return Txn(db);
}

Txn::~Txn() {
  if (db_)
    sqlite3_exec(db_->get(), "ROLLBACK", nullptr, nullptr, nullptr);  // fails only where there is nothing to undo
}

Result<void> Txn::commit() {
  Result<void> done = db_->exec("COMMIT");
  if (done) db_ = nullptr;
  return done;
}

}  // namespace fade::sqlite
