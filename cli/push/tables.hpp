// fade's tables in ClickHouse, as schema/clickhouse describes them: their columns, how they are filled, and the
// statements that make them. Text only: talks to no server.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cli/push/native_block.hpp"

namespace fade::push {

inline constexpr std::int64_t kVersion = 2;  // of the tables

struct Lookup {
  std::string key;  // a column of the rows; the first column of the statement
  std::string sql;
};

// The statements for SQLite that give the rows of a table.
struct Source {
  std::string ids;   // first and last id; only for rows that never change
  std::string rows;  // with :session; for rows that never change also :from and :to
  std::vector<Lookup> lookups;
};

struct Table {
  std::string name;                 // as users know it
  bool is_snapshot = false;         // sent as a whole again and again
  std::string into;                 // the table that rows are inserted into
  std::vector<ColumnShape> stored;  // all columns but computed ones, in the order of the table
  Source source;
};

// Those that push.tsv lists, in its order.
const std::vector<Table>& tables();

// Columns that the client adds to those of a recording.
bool is_added(std::string_view column);

struct Made {  // a table or a view
  std::string name, sql;
  std::vector<ColumnShape> columns;  // to be added if the table lacks them; empty for views and distributed tables
  bool holds_data = true;            // false: may be dropped and made again
};
// In this order. `cluster` empty: tables of one server. `replicated`: the local tables are ReplicatedMergeTree.
std::vector<Made> to_make(const std::string& cluster, const std::string& database, bool replicated);

std::string sql_text(std::string_view text);  // as a text of ClickHouse's SQL

}  // namespace fade::push
