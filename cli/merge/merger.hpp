// Makes one recording of several: all rows of each file go into a new file, with row ids that do not meet. Sessions
// stay apart. Knows tables and their references (references.hpp), and what no table means. One thread.
#pragma once
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "cli/merge/references.hpp"
#include "store/sqlite.hpp"

namespace fade::merge {

struct Added {
  std::int64_t sessions = 0, known = 0;  // of the file; known: of these, in the new file already
  bool left_out() const { return known > 0; }
};

class Merger {
 public:
  // `path`: an empty file, or none. It is worth nothing before finish(). kTemporary: a file of SQLite without a name,
  // which ends with the connection.
  static constexpr const char* kTemporary = "";
  static Result<Merger> create(const std::string& path);

  // Adds all rows of a recording, or none if all its sessions are there already. A file that has only some of them is
  // an error.
  Result<Added> add(const std::string& path);
  Result<sqlite::Db> finish();                   // the connection to the merged file; nothing may be added any more
  std::int64_t files() const { return files_; }  // that were added
  std::int64_t calls() const { return calls_; }  // rows of calls in them

 private:
  struct Column {
    std::string name;
    Holds holds;
    bool is_key = false;
  };
  struct Table {
    std::string name;
    std::vector<Column> columns;
  };
  using Ids = std::map<std::string, std::int64_t, std::less<>>;  // by table

  Merger(sqlite::Db db, References references) : db_(std::move(db)), references_(std::move(references)) {}
  Result<void> read_tables();
  Result<bool> is_constant(std::string_view table);
  Result<Added> look_at_sessions();
  Result<void> check_tables();
  Result<void> copy_all();
  Result<Ids> highest_ids();
  Result<void> share(const Table& table);
  Result<void> copy(const Table& table);
  std::string moved(const Column& column) const;

  sqlite::Db db_;
  References references_;
  std::vector<Table> tables_;  // those that have rows of their own in each file
  Ids bases_;                  // highest ids of all files so far
  std::int64_t files_ = 0, calls_ = 0;
};

}  // namespace fade::merge
