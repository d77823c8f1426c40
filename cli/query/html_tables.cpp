// Reports as tables of the page: the columns with their meaning, the first rows, and what is not among them.
#include <fmt/format.h>

#include <algorithm>

#include "cli/query/doubts.hpp"
#include "cli/query/engine.hpp"
#include "cli/query/html_data.hpp"
#include "cli/query/page.hpp"
#include "cli/query/report.hpp"
#include "cli/table/command_line.hpp"

namespace fade::query::html {
namespace {

constexpr std::int64_t kLargestNumber = std::int64_t{1} << 53;  // that JavaScript holds exactly

// A part of the page that is a report. `tune` sets the options that the command has.
struct Wanted {
  const char* id;
  const char* report;
  const char* command;
  std::int64_t rows;
  void (*tune)(Settings&) = nullptr;
};
constexpr Wanted kWanted[] = {
    {"processes", "processes", "processes", 100},
    {"top", "top", "top", 200},
    {"waits_by_line", "waits", "waits --by-line", 100, [](Settings& s) { s.by_line = true; }},
    {"waits", "waits", "waits", 60},
    {"gpu", "gpu", "gpu", 64},
    {"gpu-idle", "gpu-idle", "gpu-idle", 40},
    {"gpu-work", "gpu-work", "gpu-work", 200},
    {"gpu-delays", "gpu-delays", "gpu-delays", 60},
    {"gpu-copies", "gpu-copies", "gpu-copies", 60},
    {"kernels", "kernels", "kernels", 200},
    {"copies", "copies", "copies", 60},
    {"memory_peak", "memory", "memory --peak", 100, [](Settings& s) { s.peak = true; }},
    {"leaks", "leaks", "leaks", 150},
    {"allocators", "allocators", "allocators", 40},
    {"oom", "oom", "oom", 40},
    {"step_summary", "step_summary", "steps", 60},
    {"slow_steps", "steps", "steps --where slow --sort -duration_ns", 60,
     [](Settings& s) { s.where = "slow", s.sort = "-duration_ns"; }},
    {"ranges", "ranges", "ranges", 150},
    {"flow", "flow", "flow", 150},
    {"gaps", "gaps", "gaps", 60},
    {"devices", "devices", "devices -f table", 64},
    {"sensors", "sensors", "sensors", 64},
    {"libraries", "libraries", "libraries", 100},
    {"redirects", "redirects", "redirects", 150},
    {"library-calls", "library-calls", "library-calls", 150},
    {"gemm", "gemm", "gemm", 150},
    {"fallbacks", "fallbacks", "fallbacks", 60},
    {"convolutions", "convolutions", "convolutions", 150},
    {"fft", "fft", "fft", 60},
    {"collectives", "collectives", "collectives", 60},
    {"operators", "operators", "operators", 150},
    {"errors", "errors", "errors", 150},
    {"drops", "drops", "drops", 60},
    {"overhead", "overhead", "overhead", 60},
};

std::string kind_of(const ReportColumn& column, const Json& rows, std::size_t at) {
  const bool fractions = std::ranges::any_of(rows, [&](const Json& row) { return row[at].is_number_float(); });
  return column.kind == table::Kind::Number && fractions ? "ratio" : std::string(table::kind_word(column.kind));
}

std::string hex(std::int64_t n) { return fmt::format("{:#x}", static_cast<std::uint64_t>(n)); }

Json cell_of(const Json& value, table::Kind kind) {
  if (value.is_number_integer()) {
    const auto n = value.get<std::int64_t>();
    if (kind == table::Kind::Hex) return hex(n);
    return n > kLargestNumber || n < -kLargestNumber ? Json(std::to_string(n)) : value;
  }
  if (value.is_null() || value.is_number()) return value;
  const std::string text =
      value.is_string() ? value.get<std::string>() : value.dump(-1, ' ', false, Json::error_handler_t::replace);
  return shown(kind == table::Kind::Command ? table::short_command(text) : text);
}

// The engine's JSON: an object for each row. Here a row is an array in the order of the columns.
Json rows_of(const std::string& text, const Report& report) {
  Json out = Json::array();
  const Json objects = Json::parse(text, nullptr, false);
  if (!objects.is_array()) return out;
  for (const Json& object : objects) {
    Json row = Json::array();
    for (const ReportColumn& c : report.columns)
      row.push_back(object.contains(c.name) ? cell_of(object[c.name], c.kind) : Json());
    out.push_back(std::move(row));
  }
  return out;
}

Json columns_of_report(const Report& report, const Json& rows) {
  Json out = Json::array();
  for (std::size_t i = 0; i < report.columns.size(); ++i) {
    const ReportColumn& c = report.columns[i];
    const bool leave = std::ranges::find(report.leave_first, c.name) != report.leave_first.end();
    out.push_back({{"name", c.name},
                   {"heading", table::heading({c.name, c.kind})},
                   {"kind", kind_of(c, rows, i)},
                   {"help", c.help},
                   {"leave", leave}});
  }
  return out;
}

// A report of a newer kind may stand on views that the recording does not have: that is an error of this table alone.
Json table_of(const Source& source, const Wanted& wanted) {
  const Report& asked = *find_report(wanted.report);
  Settings settings = part_settings(source.context);
  settings.limit = source.most(wanted.rows);
  settings.timeout_ns = source.context.settings.timeout_ns;
  if (wanted.tune) wanted.tune(settings);
  const Report& report = chosen_variant(asked, settings);
  Json out{
      {"id", wanted.id}, {"title", report.title}, {"about", report.about}, {"command", source.command(wanted.command)}};
  table::StringBytes bytes;
  Output output;
  output.format = table::Format::Json;
  output.bytes = &bytes;
  auto outcome = run_report(source.recording, asked, settings, {}, output);
  if (!outcome) {
    out["error"] = shown(outcome.error().text());
    return out;
  }
  out["rows"] = rows_of(bytes.text, report);
  out["columns"] = columns_of_report(report, out["rows"]);
  if (outcome->more) out["more"] = outcome->left_out ? Json(*outcome->left_out) : Json(true);
  if (outcome->rows == 0) out["nothing"] = shown(outcome->why_nothing);
  const std::string doubt =
      outcome->rows > 0 ? remark(source.recording, source.session, report.topic, report.needs_rows) : "";
  if (!doubt.empty()) out["remark"] = shown(doubt);
  return out;
}

}  // namespace

Json tables(const Source& source) {
  Json out = Json::object();
  for (const Wanted& wanted : kWanted)
    if (find_report(wanted.report)) out[wanted.id] = table_of(source, wanted);
  return out;
}

}  // namespace fade::query::html
