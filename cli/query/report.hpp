// A report as described by the comments at the head of its .sql file: help, completion, manual page and layout are all
// made from them. Knows no database.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "cli/table/kind.hpp"

namespace fade::query {

struct ReportColumn {
  std::string name;
  table::Kind kind = table::Kind::Text;
  std::string help;
};
struct Variant {
  std::string parameter;  // the option that chooses it
  std::string report;
};

struct Report {  // one file of schema/reports: a field is a line of its head
  std::string name;
  std::string title;
  std::string about;                  // may be empty
  std::string sort;                   // "-total_ns"; empty: as the SQL has it
  std::optional<std::int64_t> limit;  // rows of a table where the user says nothing
  std::string page_by;                // ascending unique column by which long results are read in pieces; may be empty
  std::string tree;                   // column drawn as a tree
  std::vector<std::string> leave_first;  // columns that a narrow terminal leaves out
  std::vector<Variant> variants;
  bool hidden = false;
  std::string question;     // under which the help lists it: happened, time, memory ...
  std::string none;         // what an empty report means if everything was watched
  std::string partly;       // what it means if not everything was watched; empty: `none`, as far as fade saw
  std::string topic;        // of the view watched: what must be watched for it; "file": nothing
  std::string events;       // groups of functions that fade-run -e must have for it
  std::string record;       // options of fade-run without which there are no rows
  bool needs_rows = false;  // of single calls: counts (--detail stats) are not enough
  std::vector<ReportColumn> columns;
  std::string sql;  // without the head and without a semicolon

  const ReportColumn* column(std::string_view name) const;
  std::vector<std::string> column_names() const;
  // True if the SQL (or that of a variant's option) mentions :parameter.
  bool knows(std::string_view parameter) const;
  // The SQL with those conditions for which `given` says that the parameter has a value. In the file they stand in
  // comments, so that the file is plain SQL without them: /*? AND pid = :pid */, or /*?errors AND failed = 1 */ for an
  // option without a value.
  std::string sql_for(const std::function<bool(std::string_view)>& given) const;
};

// True for characters of a name: of a parameter, an option or a column.
bool is_name_char(char c);

Result<Report> parse_report(std::string_view name, std::string_view text);

// The embedded ones, by name. A file with a fault stops the program: a test reads them all.
const std::vector<Report>& reports();
const Report* find_report(std::string_view name);

}  // namespace fade::query
