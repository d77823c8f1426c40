// A new rocpd database on its way to a file. The caller gives it rows; texts that many rows share are kept once. Texts
// become valid UTF-8 without control characters, because they are the program's. Nothing is safe against a crash: the
// file must get its name only after finish(). Knows no recordings.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "cli/table/value.hpp"
#include "store/sqlite.hpp"

namespace fade::rocpd {

using table::Value;

// Rows on their way into one table. They are written many at once: each statement reads and writes the table's last id
// (AUTOINCREMENT), which costs more than a row.
class Rows {
 public:
  static constexpr std::size_t kAtOnce = 64;
  Rows(sqlite::Stmt one, sqlite::Stmt many, std::vector<bool> is_json);

  Result<void> add(std::span<const Value> values);  // one for each column
  Result<void> write();                             // the rows that wait

 private:
  void bind(sqlite::Stmt& to, std::size_t first, std::size_t cells);

  sqlite::Stmt one_, many_;    // of one row, of kAtOnce rows
  std::vector<bool> is_json_;  // of each column
  std::vector<Value> cells_;   // of the rows that wait
  std::size_t used_ = 0;       // of these
};

struct Event {
  std::string category;
  std::int64_t stack = 0, parent = 0;  // the calls that it belongs to, as AMD's tools join them
  std::string call_stack, extdata;     // JSON; empty: none
};

class File {
 public:
  // `path` is an empty file, or does not exist.
  static Result<File> create(const std::string& path, const std::string& guid);

  // `table` without rocpd_ and suffix. Ids are given by the file where `columns` has none.
  // Rows of other tables, and of this one, that wait are written first, so their ids are given. The file keeps what it
  // returns.
  Result<Rows*> rows(std::string_view table, std::span<const std::string> columns);
  Result<void> add_metadata(std::string_view tag, std::string_view value);
  Result<std::int64_t> string_id(const std::string& raw);
  Result<std::int64_t> add_event(const Event& event);
  std::int64_t last_event() const { return events_; }
  Result<void> finish();

 private:
  File(sqlite::Db db, std::string suffix) : db_(std::move(db)), suffix_(std::move(suffix)) {}
  Result<void> prepare(const std::string& guid);
  Result<void> prepare_texts();
  Result<sqlite::Stmt> insert(std::string_view table, std::span<const std::string> columns, std::size_t rows);
  Result<void> write_waiting();

  sqlite::Db db_;
  std::string suffix_;
  std::vector<std::unique_ptr<Rows>> rows_;
  Rows* event_ = nullptr;
  sqlite::Stmt string_, known_string_, metadata_;
  std::unordered_map<std::string, std::int64_t> strings_;
  std::int64_t events_ = 0;
};

}  // namespace fade::rocpd
