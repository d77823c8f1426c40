#include "cli/query/fleet_reports.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "base/suggest.hpp"
#include "cli/push/tables.hpp"
#include "cli/query/column_names.hpp"
#include "schema/schema.hpp"

namespace fade::query {
namespace {

using table::Kind;
using table::Value;

constexpr std::array<std::string_view, 12> kNames{"jobs",   "ranks",   "stragglers", "top",       "kernels", "steps",
                                                  "errors", "verdict", "memory",     "libraries", "devices", "diff"};
constexpr int kDeepest = 4;  // parts in parts

std::string without_comments(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    if (!text.starts_with("--")) (out += text.substr(0, end)) += '\n';
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

std::string part(std::string_view name) {
  const std::string_view text = schema::clickhouse("parts/" + std::string(name) + ".sql");
  FADE_CHECK(!text.empty());
  return without_comments(text);
}

// The text with its parts instead of their names.
std::string with_parts(std::string text, int depth = 0) {
  FADE_CHECK(depth <= kDeepest);
  for (std::size_t open = 0; (open = text.find('{', open)) != text.npos;) {
    const std::size_t close = text.find('}', open);
    FADE_CHECK(close != text.npos);
    const std::string whole = with_parts(part(std::string_view(text).substr(open + 1, close - open - 1)), depth + 1);
    text.replace(open, close + 1 - open, whole);
    open += whole.size();
  }
  return text;
}

std::string literal(const Value& value) {
  if (const auto* number = std::get_if<std::int64_t>(&value)) return std::to_string(*number);
  if (const auto* text = std::get_if<std::string>(&value)) return push::sql_text(*text);
  return "NULL";
}

// The end of a text in single quotes that begins at `at`, behind its last quote.
std::size_t end_of_text(std::string_view sql, std::size_t at) {
  for (++at; at < sql.size() && sql[at] != '\''; ++at)
    if (sql[at] == '\\') ++at;
  return std::min(at + 1, sql.size());
}

// The SQL with values instead of :parameters. 18.16 knows no parameters of its own.
std::string with_values(std::string_view sql, const std::vector<Parameter>& values) {
  std::string out;
  for (std::size_t at = 0; at < sql.size();) {
    std::size_t end = at + 1;
    if (sql[at] == '\'') {
      end = end_of_text(sql, at);
      out += sql.substr(at, end - at);
    } else if (sql[at] == ':') {
      while (end < sql.size() && is_name_char(sql[end])) ++end;
      const auto found = std::ranges::find(values, sql.substr(at + 1, end - at - 1), &Parameter::parameter);
      out += found == values.end() ? std::string(sql.substr(at, end - at)) : literal(found->value);
    } else {
      out += sql[at];
    }
    at = end;
  }
  return out;
}

Result<const ReportColumn*> known_column(const Report& report, std::string_view name, std::string_view option) {
  if (const ReportColumn* column = column_named(report, name)) return column;
  return usage("report " + report.name + " has no column '" + std::string(name) + "'" +
                   did_you_mean(name, names_and_headings(report)),
               {},
               "fade-query --on URL " + report.name + " " + std::string(option) + " " + report.columns.front().name);
}

Result<std::vector<table::Column>> chosen_columns(const Report& report, const Settings& settings) {
  std::vector<table::Column> out;
  const std::vector<std::string> names = settings.columns.empty() ? report.column_names() : settings.columns;
  for (const std::string& name : names) {
    auto column = known_column(report, name, "--columns");
    if (!column) return tl::unexpected(column.error());
    out.push_back({(*column)->name, (*column)->kind});
  }
  return out;
}

Result<std::string> order_of(const Report& report, const Settings& settings) {
  const std::string_view sort = settings.sort.empty() ? report.sort : settings.sort;
  if (sort.empty()) return std::string();
  const bool is_down = sort.starts_with('-');
  auto column = known_column(report, sort.substr(is_down ? 1 : 0), "--sort");
  if (!column) return tl::unexpected(column.error());
  return "\nORDER BY \"" + (*column)->name + (is_down ? "\" DESC" : "\"");
}

// --by adds a row for each job, host, rank or device: a report without that column has nothing to say.
Result<void> check_by(const Report& report, const Settings& settings) {
  if (settings.by.empty() || !report.knows("by") || report.column(settings.by)) return {};
  return usage("report " + report.name + " has no --by " + settings.by, {},
               "fade-query --on URL kernels --by " + settings.by);
}

bool is_text(Kind kind) {
  return kind == Kind::Text || kind == Kind::Json || kind == Kind::Command || kind == Kind::Trend;
}

std::string unescaped(std::string_view text) {
  constexpr std::string_view kLetters = "tnrb0f", kMeant{"\t\n\r\b\0\f", 6};
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      out += text[i];
      continue;
    }
    const std::size_t letter = kLetters.find(text[++i]);
    out += letter == kLetters.npos ? text[i] : kMeant[letter];
  }
  return out;
}

Value value_of(std::string_view text, Kind kind) {
  if (text == "\\N") return {};
  if (is_text(kind)) return unescaped(text);
  std::int64_t number = 0;
  const auto whole = std::from_chars(text.data(), text.data() + text.size(), number);
  if (whole.ec == std::errc() && whole.ptr == text.data() + text.size()) return number;
  double real = 0;
  const auto part = std::from_chars(text.data(), text.data() + text.size(), real);
  if (part.ec == std::errc() && part.ptr == text.data() + text.size()) return real;
  return unescaped(text);
}

}  // namespace

const std::vector<Report>& fleet_reports() {
  static const std::vector<Report> all = [] {
    std::vector<Report> out;
    for (const std::string_view name : kNames) {
      const std::string file = "reports/" + std::string(name) + ".sql";
      auto report = parse_report(name, schema::clickhouse(file));
      FADE_CHECK(report.has_value());
      report->sql = with_parts(std::move(report->sql));
      out.push_back(std::move(*report));
    }
    return out;
  }();
  return all;
}

const Report* find_fleet_report(std::string_view name) {
  for (const Report& report : fleet_reports())
    if (report.name == name) return &report;
  return nullptr;
}

std::string fleet_statement(std::string_view name, const std::vector<Parameter>& values) {
  return with_values(part(name), values);
}

Result<FleetQuery> fleet_query(const Report& report, const Settings& settings, std::optional<std::int64_t> most) {
  if (auto fine = check_filters(settings, report); !fine) return tl::unexpected(fine.error());
  if (auto fine = check_by(report, settings); !fine) return tl::unexpected(fine.error());
  auto columns = chosen_columns(report, settings);
  if (!columns) return tl::unexpected(columns.error());
  auto order = order_of(report, settings);
  if (!order) return tl::unexpected(order.error());
  const auto values = parameters(settings);
  const std::string sql = report.sql_for([&](std::string_view name) { return has_value(values, name); });
  FleetQuery out{std::move(*columns), "SELECT "};
  for (const table::Column& column : out.columns)
    out.sql += (&column == &out.columns.front() ? "\"" : ", \"") + column.name + "\"";
  out.sql += "\nFROM (\n" + with_values(sql, values) + "\n)";
  if (!settings.where.empty()) out.sql += "\nWHERE (" + where_in_columns(report, settings.where) + "\n)";
  out.sql += *order;
  if (most) out.sql += "\nLIMIT " + std::to_string(*most + 1);
  return out;
}

std::vector<Value> fleet_row(std::string_view line, const std::vector<table::Column>& columns) {
  std::vector<Value> out;
  for (const table::Column& column : columns) {
    const std::size_t end = std::min(line.find('\t'), line.size());
    out.push_back(value_of(line.substr(0, end), column.kind));
    line.remove_prefix(std::min(end + 1, line.size()));
  }
  return out;
}

}  // namespace fade::query
