// Columns by the names that a user sees: "total" in a table is the column total_ns.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "cli/query/report.hpp"

namespace fade::query {

// The column that `name` means: its own name, else its heading in a table, in any case and with _ for blanks. The
// end of a recording says "average", so that is avg. nullptr: none.
const ReportColumn* column_named(const Report& report, std::string_view name);

// The names and the headings of all columns, for "did you mean".
std::vector<std::string> names_and_headings(const Report& report);

// An expression of --where for rows of `report`: headings are made column names, and 'yes' and 'no' compared with a
// yes-or-no column become 1 and 0. Texts in single quotes stay as they are.
std::string where_in_columns(const Report& report, std::string_view expression);

}  // namespace fade::query
