// One recording, open for reading only: what runs on it may select and nothing else, and ends when its time is up.
// Nothing in the file is trusted: neither its texts nor its views. Not for use by several threads.
#pragma once
#include <sqlite3.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "cli/query/packed_arguments.hpp"
#include "cli/query/stack_text.hpp"
#include "cli/table/value.hpp"

namespace fade::query {

class Database;

using Row = std::vector<table::Value>;

void bind_value(sqlite3_stmt* statement, int position, const table::Value& value);

// A prepared SELECT. Its Database must neither end nor move before it.
class Statement {
 public:
  // Unknown names are left alone: a report takes only the parameters it mentions.
  void bind(const char* name, const table::Value& value);
  Result<bool> step();             // false: no more rows
  Result<std::vector<Row>> all();  // the rows from here on
  void reset();
  int columns() const { return sqlite3_column_count(statement_.get()); }
  std::string column_name(int i) const;
  table::Value value(int i) const;
  std::int64_t integer(int i) const { return sqlite3_column_int64(statement_.get(), i); }  // NULL: 0
  double real(int i) const { return sqlite3_column_double(statement_.get(), i); }
  int type(int i) const { return sqlite3_column_type(statement_.get(), i); }
  std::string_view text(int i);  // as value() has it; until the next row or the next text
  // Cheaper than the functions above where a cell's type is not known: it is found once. Texts are as they stand.
  sqlite3_value* cell(int i) const { return sqlite3_column_value(statement_.get(), i); }
  bool is_null(int i) const { return sqlite3_column_type(statement_.get(), i) == SQLITE_NULL; }
  std::string expanded_sql() const;  // with the bound values in it
  std::uint32_t steps() const {
    return static_cast<std::uint32_t>(sqlite3_stmt_status(statement_.get(), SQLITE_STMTSTATUS_VM_STEP, 0));
  }  // of SQLite's machine, so far

 private:
  friend class Database;
  struct Finalize {
    void operator()(sqlite3_stmt* s) const { sqlite3_finalize(s); }
  };
  Statement(Database& database, sqlite3_stmt* s) : database_(&database), statement_(s) {}
  Database* database_;
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
  std::string replaced_;  // of text()
};

class MemoryLimit {
 public:
  explicit MemoryLimit(std::int64_t bytes);
  MemoryLimit(const MemoryLimit&) = delete;
  MemoryLimit& operator=(const MemoryLimit&) = delete;
  ~MemoryLimit();
};

class Database {
 public:
  // `path` was looked at by open_recording() or is a test's own.
  static Result<Database> open(const std::string& path);
  // An empty one that `fill` may write to before it becomes read-only like the others.
  static Result<Database> in_memory(const std::function<void(sqlite3*)>& fill);
  // A connection that was made and filled elsewhere; from now on it is read-only and closed by the object.
  static Result<Database> adopt(sqlite3* connection, const std::string& path);
  Database(Database&&) = default;

  Result<Statement> prepare(std::string_view sql);
  // The first cell of the first row; NULL where there is none.
  Result<table::Value> one(std::string_view sql);

  // Everything from now on must end within `time`; nullopt lifts that.
  void limit_time(std::optional<std::chrono::nanoseconds> time);
  // Everything from now on ends soon after another thread sets `stop`; nullptr lifts that.
  void stop_with(const std::atomic<bool>* stop) { guard_->stop = stop; }
  // From now on texts that have `words` have `instead` in their place. No words: texts are as they stand.
  void put_in_texts(std::string_view words, std::string_view instead);
  // From now on what takes long says on stderr that it is still at it; between rows only where they go elsewhere.
  enum class Telling { No, UntilRows, ThroughRows };
  void tell_waiting(Telling how);
  // Where the rows share the terminal: before each. Otherwise after the last.
  void stop_telling(bool has_row);
  // Runs statements that make temporary views; they live in memory and end with the connection.
  Result<void> make_views(const std::string& sql);
  // For SQL written by the user: little memory, no temporary files, small values. SQLite counts the memory of the whole
  // process, so that limit ends with the object.
  [[nodiscard]] MemoryLimit limit_memory();

  sqlite3* handle() const { return db_.get(); }
  Error error(int code, std::string_view doing) const;
  // The place in the last statement that was refused, in bytes; nullopt: SQLite does not tell.
  std::optional<std::size_t> error_place() const;

 private:
  friend class Statement;
  Database() = default;
  std::string with_words(std::string text) const;
  bool changes_texts() const { return !guard_->words.empty(); }
  struct Close {
    void operator()(sqlite3* db) const { sqlite3_close(db); }
  };
  struct Guard {  // what SQLite's callbacks see; at a fixed address
    std::optional<std::chrono::steady_clock::time_point> deadline;
    const std::atomic<bool>* stop = nullptr;
    ~Guard() { erase(); }
    void erase();
    Telling tells = Telling::No;
    bool told = false;
    std::int64_t rows = 0;
    std::chrono::steady_clock::time_point since, next;  // of telling
    std::string words, instead;                         // put_in_texts()
    std::string denied;                                 // the last thing that the authorizer refused
  };
  static int authorize(void* guard, int action, const char* a, const char* b, const char* c, const char* d);
  static int on_progress(void* guard);
  static void tell(Guard& guard, std::chrono::steady_clock::time_point now);
  Result<void> lock_down();

  std::unique_ptr<Guard> guard_;  // before db_: outlives it
  std::unique_ptr<sqlite3, Close> db_;
  std::unique_ptr<StackTexts> stacks_;  // after db_: its statements end first
  std::unique_ptr<PackedArguments> arguments_;
  std::string path_;
  std::string limit_text_;
};

}  // namespace fade::query
