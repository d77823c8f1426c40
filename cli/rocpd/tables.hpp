// The tables and views of a rocpd database, as rocprofv3 of ROCm 7 writes it (schema 3.0.0). Each table has the file's
// UUID at the end of its name; a view has the name alone. AMD's tools read tables and columns by these names.
#pragma once
#include <string>
#include <string_view>

namespace fade::rocpd {

inline constexpr std::string_view kSchemaVersion = "3";

// The statements that make all tables, and for each the view without `suffix`. `guid` is every row's default.
std::string tables(std::string_view suffix, std::string_view guid);
// The statements of the joined views. They read the views without a suffix.
std::string_view views();

}  // namespace fade::rocpd
