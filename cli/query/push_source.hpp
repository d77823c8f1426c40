// The rows of one table of ClickHouse, read from a recording into blocks. Knows columns and statements, and no server.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "cli/push/native_block.hpp"
#include "cli/push/tables.hpp"
#include "cli/query/database.hpp"

namespace fade::query {

// Values that all rows of a session share.
struct PushedSession {
  std::int64_t session = 0;
  std::int64_t recording = 0;  // the key of its rows on the server
  std::string job, host;
  std::int64_t day = 0;                        // since 1970
  std::map<std::int64_t, std::int64_t> ranks;  // by pid
  std::optional<std::int64_t> rank;            // of rows without a pid: the only one
  std::int64_t snapshot = 0;                   // of snapshots

  std::optional<std::int64_t> rank_of(std::int64_t pid) const;
};

using Parameters = std::vector<std::pair<const char*, table::Value>>;

class PushSource {
 public:
  // `sql`: of the source, or a statement around it with the same columns.
  static Result<PushSource> prepare(Database& database, const push::Table& table, const PushedSession& session,
                                    const Parameters& parameters);

  // Adds rows until the block has `most`, those for which `wanted` (of the column id) is false are left out. Returns
  // false after the last row.
  template <class Wanted>
  Result<bool> fill(push::NativeBlock& block, std::int64_t most, const Wanted& wanted) {
    const std::int64_t before = block.rows();
    Result<bool> more = true;
    while (block.rows() < most) {
      more = rows_.step();
      if (!more || !*more) break;
      if (wanted(id_column_ < 0 ? 0 : rows_.integer(id_column_))) add_row(block);
    }
    add_constants(block, block.rows() - before);
    return more;
  }

 private:
  struct Cell {  // of a lookup
    table::Value value;
    std::string encoded;  // as the block has it; empty if nothing is copied from it or it is NULL
    bool is_null = true;
  };
  using Entry = std::vector<Cell>;  // of one key, by column of the lookup
  struct Dictionary {
    int key_column = 0;  // of the rows
    std::vector<std::string> names;
    std::unordered_map<std::int64_t, Entry> entries;
    std::int64_t key = 0;          // of the row
    const Entry* entry = nullptr;  // of the row, or nullptr: the lookup has none for its key
    bool is_found = false;         // else the first row is to come
  };
  struct Place {  // of a column in a lookup
    std::size_t lookup = 0, column = 0;
  };
  struct From {  // where a column's values come from
    enum class What { Recorded, Lookup, Day, Job, Host, Recording, Rank, Snapshot, Nothing } what = What::Nothing;
    int column = 0;              // of the rows
    Place place{};               // of What::Lookup
    std::vector<Place> masks{};  // where one of them is NULL, the value of the row does not count
  };

  PushSource(Statement rows, const PushedSession& session) : rows_(std::move(rows)), session_(&session) {}
  Result<void> read_dictionary(Database& database, const push::Lookup& lookup);
  void bind_columns(const push::Table& table);
  From find(std::string_view column) const;
  From from_added(std::string_view name) const;
  int column_named(std::string_view name) const;
  bool varies(const From& from) const;
  void encode(const Place& place, const push::ColumnShape& shape);
  void add_row(push::NativeBlock& block);
  void add_constants(push::NativeBlock& block, std::int64_t rows);
  void add_cell(push::NativeColumn& to, const From& from);
  void add_constant(push::NativeColumn& to, const From& from) const;
  void add_rank(push::NativeColumn& to);
  void add_row_value(push::NativeColumn& to, int column);
  void add_looked_up(push::NativeColumn& to, const Place& place) const;
  void look_up();
  const Cell* looked_up(const Place& place) const {
    const Entry* const entry = dictionaries_[place.lookup].entry;
    return entry ? &(*entry)[place.column] : nullptr;
  }
  bool is_masked(const From& from) const;
  std::optional<std::int64_t> pid_of_row();

  Statement rows_;
  const PushedSession* session_;
  std::vector<Dictionary> dictionaries_;
  std::vector<From> columns_;
  std::vector<std::size_t> varying_, constant_;  // places of columns
  std::optional<From> pid_;
  int id_column_ = -1;
  std::optional<std::int64_t> last_pid_, last_rank_;
};

}  // namespace fade::query
