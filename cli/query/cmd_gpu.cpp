// gpu for people: for each device how busy it was and why it was idle, in words, its busy share over time as a plot,
// and the longest idle times with what the host did. The rows are those of the reports gpu, gpu-busy and gpu-idle.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "cli/query/command.hpp"
#include "cli/query/named_row.hpp"
#include "cli/query/page.hpp"
#include "cli/query/plot.hpp"
#include "cli/query/report.hpp"
#include "cli/table/human.hpp"
#include "schema/schema.hpp"

namespace fade::query {
namespace {

constexpr std::int64_t kNsOfSecond = 1'000'000'000, kIdleRows = 10;
constexpr std::int64_t kShort = 10 * kNsOfSecond, kMostFineWorks = 50'000;  // shown from single works

struct BusySpan {
  std::int64_t first = 0, length = 1;
  std::size_t columns = 1;
  std::string_view page = "gpu_columns";
};

double real_of(const NamedRow& row, std::string_view column) {
  const table::Value& value = row.at(column);
  if (const double* number = std::get_if<double>(&value)) return *number;
  return static_cast<double>(row.number(column));
}

std::string time_of(const Context& context, const NamedRow& row, std::string_view column) {
  return table::human_duration(row.number(column), context.settings.units, context.output.style.terminal.utf8);
}

// "busy 63.2 % of 41.2 s; copies 2.10 s, 40.0 % of them beneath kernels"
std::string busy_words(const Context& context, const NamedRow& gpu) {
  std::string out =
      fmt::format("busy {:.1f} % of {}", real_of(gpu, "busy_percent"), time_of(context, gpu, "duration_ns"));
  if (gpu.number("copy_ns") > 0)
    out += fmt::format("; copies {}, {:.1f} % of them beneath kernels", time_of(context, gpu, "copy_ns"),
                       real_of(gpu, "overlap_percent"));
  return out;
}

// "idle 15.2 s: 9.10 s while the thread of the next work launched, 6.10 s after the host had waited in a copy"
std::string idle_words(const Context& context, const NamedRow& gpu) {
  struct Cause {
    std::string_view column, words;
  };
  constexpr Cause kCauses[] = {{"launch_idle_ns", "while the thread of the next work launched"},
                               {"sync_idle_ns", "after the host had waited in a synchronising call"},
                               {"copy_idle_ns", "after the host had waited in a copy"},
                               {"host_idle_ns", "while the thread of the next work did something else"},
                               {"queued_ns", "with work queued"},
                               {"unknown_ns", "of unknown cause"}};
  std::vector<Cause> causes;
  for (const Cause& cause : kCauses)
    if (gpu.number(cause.column) > 0) causes.push_back(cause);
  std::ranges::stable_sort(causes,
                           [&](const Cause& a, const Cause& b) { return gpu.number(a.column) > gpu.number(b.column); });
  std::string out = "idle " + time_of(context, gpu, "idle_ns");
  for (const Cause& cause : causes)
    out +=
        fmt::format("{}{} {}", &cause == causes.data() ? ": " : ", ", time_of(context, gpu, cause.column), cause.words);
  return out;
}

std::string device_title(const NamedRow& gpu, bool has_processes) {
  const std::string name = gpu.has("device") ? fmt::format("Device {}", gpu.number("device")) : "Device not known";
  return has_processes ? fmt::format("{} of process {}", name, gpu.number("pid")) : name;
}

bool is_same_device(const NamedRow& a, const NamedRow& b) {
  return a.number("pid") == b.number("pid") && a.has("device") == b.has("device") &&
         a.number("device") == b.number("device");
}

// A part without a row is one without work.
std::string plot_of_device(const Context& context, const NamedRow& gpu, const NamedRows& columns,
                           const BusySpan& span) {
  std::vector<std::int64_t> busy(span.columns, 0);
  for (const NamedRow& column : columns)
    if (is_same_device(column, gpu)) busy[static_cast<std::size_t>(column.number("part"))] = column.number("busy");
  const auto& units = context.settings.units;
  return busy_plot(busy, context.output.style.terminal.utf8, table::human_time(span.first, units),
                   table::human_time(span.first + span.length, units), span.columns);
}

BusySpan busy_span(const Context& context, const NamedRow& any) {
  const std::int64_t length = std::max(kNsOfSecond, any.number("last") - any.number("first"));
  return {any.number("first"), length,
          std::min(plot_columns(context.output.style.terminal.width), static_cast<std::size_t>(length / kNsOfSecond))};
}

// A short recording has few seconds. If its works are few, their own times make the plot.
BusySpan fine_span(const Context& context, const NamedRows& gpus) {
  std::int64_t first = INT64_MAX, last = 0;
  for (const NamedRow& gpu : gpus) {
    first = std::min(first, gpu.number("first_ns"));
    last = std::max(last, gpu.number("first_ns") + gpu.number("duration_ns"));
  }
  const std::size_t columns = plot_columns(context.output.style.terminal.width);
  return {first, std::max(last - first, static_cast<std::int64_t>(columns)), columns, "gpu_fine_columns"};
}

BusySpan plot_span(const Context& context, const NamedRows& gpus) {
  const BusySpan usual = busy_span(context, gpus.front());
  return usual.length < kShort && gpus.front().number("works") <= kMostFineWorks ? fine_span(context, gpus) : usual;
}

std::string all_devices(const Context& context, const NamedRows& gpus, const NamedRows& columns, const BusySpan& span) {
  const bool has_processes =
      std::ranges::any_of(gpus, [&](const NamedRow& gpu) { return gpu.number("pid") != gpus.front().number("pid"); });
  std::string out;
  for (const NamedRow& gpu : gpus) {
    out += bold(context, device_title(gpu, has_processes)) + "\n";
    for (const std::string& words : {busy_words(context, gpu), idle_words(context, gpu), gpu.text("doubt")})
      if (!words.empty()) out += "  " + paragraph(context, words, 2) + "\n";
    out += plot_of_device(context, gpu, columns, span) + "\n";
  }
  return out;
}

Result<void> show_idle(Context& context, Recording& recording) {
  Settings part = part_settings(context);
  part.pid = context.settings.pid;
  part.device = context.settings.device;
  part.limit = kIdleRows;
  auto& bytes = *context.output.bytes;
  if (auto written = bytes.write(bold(context, "Longest times without work") + "\n"); !written) return written;
  auto shown = print_part(context, recording, "gpu-idle", part);
  if (!shown) return tl::unexpected(shown.error());
  return bytes.write(
      "\n" +
      paragraph(
          context,
          "All of them: fade-query gpu-idle. The figures: fade-query gpu -f line, gpu-busy, gpu-delays, gpu-copies.",
          0) +
      "\n");
}

}  // namespace

Result<void> show_gpu(Context& context, Recording& recording) {
  const Report& report = *find_report("gpu");
  if (auto fine = check_filters(context.settings, report); !fine) return fine;
  auto gpus =
      named_rows(context, recording, over(filtered_sql(context, recording, "gpu"), schema::page_sql("gpu_busy")));
  if (!gpus) return tl::unexpected(gpus.error());
  if (gpus->empty()) return print_report(context, recording, "gpu");
  const BusySpan span = plot_span(context, *gpus);
  auto columns =
      named_rows(context, recording, schema::page_sql(span.page),
                 {{":first", span.first}, {":width", static_cast<std::int64_t>(span.columns)}, {":span", span.length}});
  if (!columns) return tl::unexpected(columns.error());
  if (auto written = context.output.bytes->write(all_devices(context, *gpus, *columns, span)); !written) return written;
  return show_idle(context, recording);
}

}  // namespace fade::query
