// A new rocpd database on its way to a file. The caller gives it rows; texts that many rows share are kept once. Texts
// become valid UTF-8 without control characters, because they are the program's. Nothing is safe against a crash: the
// file must get its name only after finish(). Knows no recordings.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "cli/table/value.hpp"
#include "store/sqlite.hpp"

namespace fade::rocpd {

using table::Value;

// Rows on their way into one table.
class Rows {
 public:
  Result<void> add(std::span<const Value> values);  // one for each column

 private:
  friend class File;
  Rows(sqlite::Stmt insert, std::vector<bool> is_json) : insert_(std::move(insert)), is_json_(std::move(is_json)) {}
  sqlite::Stmt insert_;
  std::vector<bool> is_json_;  // of each column
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
  Result<Rows> rows(std::string_view table, std::span<const std::string> columns);
  Result<void> add_metadata(std::string_view tag, std::string_view value);
  Result<std::int64_t> string_id(const std::string& raw);
  Result<std::int64_t> add_event(const Event& event);
  std::int64_t last_event() const { return events_; }
  Result<void> finish();

 private:
  File(sqlite::Db db, std::string suffix) : db_(std::move(db)), suffix_(std::move(suffix)) {}
  Result<void> prepare(const std::string& guid);

  sqlite::Db db_;
  std::string suffix_;
  sqlite::Stmt event_, string_, known_string_, metadata_;
  std::unordered_map<std::string, std::int64_t> strings_;
  std::int64_t events_ = 0;
};

}  // namespace fade::rocpd
