// What SQLite alone takes for rows as plain as can be: one INSERT a row, bound and stepped, 10 integers and a text of
// 19 characters, no key, WAL, no sync, pages of 4 KiB and all else as SQLite comes, 10,000 rows in a transaction. The
// writer is measured against it: that says something of the writer, where calls per second say as much of the machine.
// plain_inserts [ROWS] [DIRECTORY]
#include <fmt/format.h>
#include <sqlite3.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <string>

#include "base/clock.hpp"

namespace {

constexpr int kIntegers = 10, kRowsOfATransaction = 10'000;
constexpr std::int64_t kStarts[kIntegers] = {
    1, 1'000'000'000'000, 5'000, 7, 130, 0x7f0000000000, 0x7f4000000000, 4096, 3, 0};
constexpr std::int64_t kSteps[kIntegers] = {1, 20'011, 13, 0, 0, 4096, 256, 0, 0, 0};

void must(int code, sqlite3* db) {
  if (code == SQLITE_OK || code == SQLITE_DONE) return;
  fmt::print(stderr, "plain_inserts: {}\n", sqlite3_errmsg(db));
  std::exit(1);
}

void run(sqlite3* db, const char* sql) { must(sqlite3_exec(db, sql, nullptr, nullptr, nullptr), db); }

void insert(sqlite3* db, long rows) {
  sqlite3_stmt* statement = nullptr;
  must(sqlite3_prepare_v2(db, "INSERT INTO event VALUES (?,?,?,?,?,?,?,?,?,?,?)", -1, &statement, nullptr), db);
  std::string text = "event 0000000000000";
  for (long row = 0; row < rows; ++row) {
    if (row % kRowsOfATransaction == 0) run(db, row == 0 ? "BEGIN" : "COMMIT; BEGIN");
    for (int i = 0; i < kIntegers; ++i) sqlite3_bind_int64(statement, i + 1, kStarts[i] + row * kSteps[i]);
    text.back() = static_cast<char>('0' + row % 10);
    sqlite3_bind_text(statement, kIntegers + 1, text.data(), static_cast<int>(text.size()), SQLITE_STATIC);
    must(sqlite3_step(statement), db);
    sqlite3_reset(statement);
  }
  run(db, "COMMIT");
  sqlite3_finalize(statement);
}

}  // namespace

int main(int argc, char** argv) {
  const long rows = argc > 1 ? std::atol(argv[1]) : 1'000'000;
  const std::string path = fmt::format("{}/plain_inserts.{}.db", argc > 2 ? argv[2] : ".", ::getpid());
  sqlite3* db = nullptr;
  must(sqlite3_open_v2(path.c_str(), &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, nullptr),
       db);
  run(db,
      "PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF;"
      "CREATE TABLE event (a INTEGER, b INTEGER, c INTEGER, d INTEGER, e INTEGER, f INTEGER, g INTEGER, h INTEGER, i "
      "INTEGER, j INTEGER, t TEXT)");
  const std::int64_t began = fade::clock_ns(CLOCK_PROCESS_CPUTIME_ID);
  insert(db, rows);
  const double seconds = static_cast<double>(fade::clock_ns(CLOCK_PROCESS_CPUTIME_ID) - began) / 1e9;
  sqlite3_close(db);
  for (const char* end : {"", "-wal", "-shm"}) ::unlink((path + end).c_str());
  fmt::print("{} rows: {:.2f} M rows/s of CPU\n", rows, static_cast<double>(rows) / seconds / 1e6);
}
