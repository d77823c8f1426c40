// SQLite with destructors and Result: a connection, a prepared statement, a transaction. Any thread, but one at a
// time. Knows nothing of fade's tables; fade-query and the writer both build on it.
#pragma once
#include <sqlite3.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "base/id.hpp"
#include "base/result.hpp"

namespace fade::sqlite {

class Stmt {
 public:
  Stmt() = default;
  explicit Stmt(sqlite3_stmt* stmt) : stmt_(stmt) {}

  explicit operator bool() const { return stmt_ != nullptr; }
  sqlite3_stmt* get() const { return stmt_.get(); }

  // Parameters count from 1. Text and blobs are not copied: they must live until the statement is reset.
  void bind_null(int at) { sqlite3_bind_null(get(), at); }
  void bind_int(int at, std::int64_t value) { sqlite3_bind_int64(get(), at, value); }
  void bind_real(int at, double value) { sqlite3_bind_double(get(), at, value); }
  void bind_text(int at, std::string_view value);
  void bind_blob(int at, std::span<const std::byte> value);
  // Binds all parameters in order: integers, ids, doubles, strings, optionals of these (nullopt is NULL), bytes.
  template <class... A>
  void bind(const A&... values) {
    int at = 0;
    (bind_one(++at, values), ...);
  }

  Result<bool> step();  // true: a row is there
  Result<void> run();   // to the end, then ready to be bound anew
  void reset();

  int columns() const { return sqlite3_column_count(get()); }
  std::string_view column_name(int at) const;
  bool is_null(int at) const { return sqlite3_column_type(get(), at) == SQLITE_NULL; }
  std::int64_t integer(int at) const { return sqlite3_column_int64(get(), at); }
  double real(int at) const { return sqlite3_column_double(get(), at); }
  std::string_view text(int at) const;            // valid until the next step
  std::span<const std::byte> blob(int at) const;  // likewise

 private:
  template <class T>
  void bind_one(int at, const T& value) {
    if constexpr (std::is_same_v<T, std::nullopt_t>) bind_null(at);
    else if constexpr (std::is_floating_point_v<T>) bind_real(at, value);
    else if constexpr (std::is_integral_v<T>) bind_int(at, static_cast<std::int64_t>(value));
    else if constexpr (std::is_convertible_v<const T&, std::string_view>) bind_text(at, value);
    else if constexpr (std::is_convertible_v<const T&, std::span<const std::byte>>) bind_blob(at, value);
    else if (value) bind_one(at, *value);
    else bind_null(at);
  }
  template <class Tag, class Rep>
  void bind_one(int at, Id<Tag, Rep> id) {
    bind_int(at, static_cast<std::int64_t>(id.value()));
  }

  struct Finalize {
    void operator()(sqlite3_stmt* stmt) const { sqlite3_finalize(stmt); }
  };
  std::unique_ptr<sqlite3_stmt, Finalize> stmt_;
};

class Db {
 public:
  Db() = default;
  // `flags` as for sqlite3_open_v2; the connection is never shared between threads at one time.
  static Result<Db> open(const std::string& path, int flags);

  explicit operator bool() const { return db_ != nullptr; }
  sqlite3* get() const { return db_.get(); }
  void close() { db_.reset(); }
  sqlite3* release() { return db_.release(); }  // the caller closes it

  Result<void> exec(std::string_view sql);  // any number of statements, rows are ignored
  Result<Stmt> prepare(std::string_view sql);
  Result<std::int64_t> integer(std::string_view sql);  // first value of the first row, 0 if there is none
  Result<std::string> text(std::string_view sql);      // likewise

  Error error(std::string doing) const;  // the error of the last call on this connection

 private:
  struct Close {
    void operator()(sqlite3* db) const { sqlite3_close_v2(db); }
  };
  std::unique_ptr<sqlite3, Close> db_;
};

// Rolled back unless committed.
class Txn {
 public:
  static Result<Txn> begin(Db& db, std::string_view how = "BEGIN IMMEDIATE");
  Txn(Txn&& other) noexcept : db_(std::exchange(other.db_, nullptr)) {}
  Txn& operator=(Txn&&) = delete;
  ~Txn();

  Result<void> commit();

 private:
  explicit Txn(Db& db) : db_(&db) {}
  Db* db_;
};

}  // namespace fade::sqlite
