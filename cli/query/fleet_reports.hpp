// Reports over the recordings of a ClickHouse server: fade-query --on URL REPORT. A report is a file of
// schema/clickhouse/reports, with the head of any report; {NAME} in it stands for schema/clickhouse/parts/NAME.sql.
// Text only: talks to no server.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "cli/query/report.hpp"
#include "cli/query/settings.hpp"
#include "cli/table/kind.hpp"
#include "cli/table/value.hpp"

namespace fade::query {

const std::vector<Report>& fleet_reports();
const Report* find_fleet_report(std::string_view name);

// A statement of schema/clickhouse/parts, with the values of its :parameters.
std::string fleet_statement(std::string_view name, const std::vector<Parameter>& values = {});

struct FleetQuery {
  std::vector<table::Column> columns;
  std::string sql;  // one row more than `most`, so that the caller knows whether there are more
};

// The statement for the user's wishes. `most` rows; nullopt: all.
Result<FleetQuery> fleet_query(const Report& report, const Settings& settings, std::optional<std::int64_t> most);

// A line of ClickHouse's TabSeparated as cells of these columns.
std::vector<table::Value> fleet_row(std::string_view line, const std::vector<table::Column>& columns);

}  // namespace fade::query
