// The SQL of the event store and of the reports, embedded at build time from schema/.
// Knows text only: nothing here opens a database.
#pragma once
#include <cstdint>
#include <iterator>
#include <span>
#include <string_view>
#include <vector>

namespace fade::schema {

inline constexpr std::uint32_t kApplicationId = 0x46414445;  // "FADE", PRAGMA application_id
inline constexpr int kVersion = 8;                           // PRAGMA user_version

std::string_view tables();
std::string_view views();  // with the view of findings
std::string_view docs();   // fills doc_

struct View {
  std::string_view name;
  std::string_view sql;  // the statement as SQLite keeps it: from CREATE to its last word
};
// The statements of views(), one by one.
const std::vector<View>& each_view();
std::string_view gpus();        // the reference table of GPUs, tab separated
std::string_view references();  // which columns hold row ids, and of which table; tab separated

// A file of schema/clickhouse by its name in there: "tables.sql", "rows/calls.sql". Empty: there is none.
std::string_view clickhouse(std::string_view name);

struct Report {
  std::string_view name;  // of the file, without .sql
  std::string_view sql;
};
std::span<const Report> reports();                 // by name
const Report* find_report(std::string_view name);  // nullptr if there is none

// The statements of fade-query's pages, files page_NAME.sql. They are no reports: users neither see nor name them.
std::span<const Report> pages();                   // by name, page_ included
std::string_view page_sql(std::string_view name);  // of page_NAME.sql; a name without a file ends the program

}  // namespace fade::schema
