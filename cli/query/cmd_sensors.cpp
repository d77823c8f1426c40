// sensors for people: for each GPU what the driver said in words, and its load over time as a plot. The rows are those
// of the report sensors.
#include <fmt/format.h>

#include <algorithm>

#include "cli/query/command.hpp"
#include "cli/query/named_row.hpp"
#include "cli/query/page.hpp"
#include "cli/query/plot.hpp"
#include "cli/query/report.hpp"
#include "cli/table/human.hpp"
#include "schema/schema.hpp"

namespace fade::query {
namespace {

struct LoadSpan {
  std::int64_t first, length;
  std::size_t columns;
};

double real(const NamedRow& row, std::string_view column) {
  const table::Value& value = row.at(column);
  if (const double* number = std::get_if<double>(&value)) return *number;
  return static_cast<double>(row.number(column));
}

std::string bytes(const NamedRow& row, std::string_view column) { return table::human_bytes(row.number(column)); }

// "busy 37.4 % on average, 100 % at most; without load 41.0 % of 41.2 s"
std::string load_words(const Context& context, const NamedRow& gpu) {
  const std::string seconds =
      table::human_duration(gpu.number("seconds"), context.settings.units, context.output.style.terminal.utf8);
  if (real(gpu, "asleep_percent") >= 100) return "asleep all " + seconds;
  std::string out =
      gpu.has("busy_percent")
          ? fmt::format("busy {:.1f} % on average, {} % at most; without load {:.1f} % of {}",
                        real(gpu, "busy_percent"), gpu.number("busy_most"), real(gpu, "idle_percent"), seconds)
          : "the driver does not say how busy it is";
  if (real(gpu, "asleep_percent") > 0) out += fmt::format("; asleep {:.1f} %", real(gpu, "asleep_percent"));
  return out;
}

// "memory 11.8 GiB of 16.0 GiB at most; recorded processes held 9.20 GiB, others 2.60 GiB"
std::string gpu_memory_words(const NamedRow& gpu) {
  std::string out;
  if (gpu.has("memory_bytes")) {
    out = "memory " + bytes(gpu, "memory_bytes");
    if (gpu.has("memory_total_bytes")) out += " of " + bytes(gpu, "memory_total_bytes");
    out += " at most";
  }
  if (gpu.has("own_bytes"))
    out += fmt::format("{}recorded processes held {}, others {}", out.empty() ? "" : "; ", bytes(gpu, "own_bytes"),
                       bytes(gpu, "others_bytes"));
  return out;
}

std::string heat_words(const NamedRow& gpu) {
  std::vector<std::string> parts;
  if (gpu.has("watts"))
    parts.push_back(fmt::format("{:.0f} W on average, {:.0f} W at most", real(gpu, "watts"), real(gpu, "watts_most")));
  if (gpu.has("celsius_most"))
    parts.push_back(fmt::format("{:.0f} degrees Celsius at most", real(gpu, "celsius_most")));
  if (gpu.has("mhz")) parts.push_back(fmt::format("shaders at {:.0f} MHz", real(gpu, "mhz")));
  return fmt::format("{}", fmt::join(parts, "; "));
}

std::string gpu_title(const NamedRow& gpu) {
  std::string where = gpu.text("name");
  if (gpu.has("pci")) where += (where.empty() ? "" : ", ") + gpu.text("pci");
  return fmt::format("GPU of node {}{}", gpu.number("node"), where.empty() ? "" : " (" + where + ")");
}

std::string plot_of(const Context& context, const NamedRow& gpu, const NamedRows& columns, const LoadSpan& span) {
  std::vector<std::int64_t> busy;
  for (const NamedRow& column : columns) {
    if (column.number("node") != gpu.number("node")) continue;
    const std::int64_t before = busy.empty() ? 0 : busy.back();
    busy.resize(static_cast<std::size_t>(std::max<std::int64_t>(0, column.number("part"))), before);
    busy.push_back(column.number("busy"));
  }
  const auto& units = context.settings.units;
  return busy_plot(busy, context.output.style.terminal.utf8, table::human_time(span.first, units),
                   table::human_time(span.first + span.length, units), span.columns);
}

// A column has at least one second, so none is without a value.
LoadSpan span_of(const Context& context, const NamedRows& gpus) {
  std::int64_t seconds = 0;
  for (const NamedRow& gpu : gpus) seconds = std::max(seconds, gpu.number("n"));
  const NamedRow& any = gpus.front();
  return {any.number("first"), std::max<std::int64_t>(1, any.number("last") - any.number("first")),
          std::min(plot_columns(context.output.style.terminal.width), static_cast<std::size_t>(seconds))};
}

}  // namespace

Result<void> show_sensors(Context& context, Recording& recording) {
  const Report& report = *find_report("sensors");
  if (auto fine = check_filters(context.settings, report); !fine) return fine;
  auto gpus = named_rows(context, recording,
                         over(filtered_sql(context, recording, "sensors"), schema::page_sql("sensor_gpus")));
  if (!gpus) return tl::unexpected(gpus.error());
  if (gpus->empty()) return context.output.bytes->write(paragraph(context, "(nothing: " + report.none + ")", 0) + "\n");
  const LoadSpan span = span_of(context, *gpus);
  auto columns =
      named_rows(context, recording, schema::page_sql("sensor_columns"),
                 {{":first", span.first}, {":width", static_cast<std::int64_t>(span.columns)}, {":span", span.length}});
  if (!columns) return tl::unexpected(columns.error());
  std::string text;
  for (const NamedRow& gpu : *gpus) {
    text += bold(context, gpu_title(gpu)) + "\n";
    for (const std::string& words : {load_words(context, gpu), gpu_memory_words(gpu), heat_words(gpu)})
      if (!words.empty()) text += "  " + paragraph(context, words, 2) + "\n";
    text += plot_of(context, gpu, *columns, span) + "\n";
  }
  return context.output.bytes->write(
      text +
      paragraph(context, "By the driver, for all programs that use the GPU. The figures: fade-query sensors -f line.",
                0) +
      "\n");
}

}  // namespace fade::query
