#include "cli/top/panels.hpp"

#include <fmt/format.h>

#include "cli/table/command_line.hpp"
#include "cli/table/human.hpp"

namespace fade::cli::top {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000, kNews = 10 * kSecond;

// The columns of all panels but the last stand below each other.
std::vector<PanelColumn> columns_of_numbers(std::vector<std::string> titles) {
  constexpr std::size_t kWidths[] = {7, 9, 10, 12, 9, 8};
  std::vector<PanelColumn> columns;
  for (std::string& title : titles) columns.push_back({std::move(title), kWidths[columns.size()]});
  return columns;
}

std::string count(std::int64_t n) { return table::short_count(static_cast<double>(n)); }

std::string percent(const std::optional<Rates>& rates, double Rates::*share) {
  if (!rates) return "-";
  const double value = 100 * (*rates).*share;
  return value < 99.95 ? fmt::format("{:.1f}", value) : fmt::format("{:.0f}", value);
}

std::string rate(const std::optional<Rates>& rates, double Rates::*which) {
  if (!rates) return "-";
  const double value = (*rates).*which;
  return value > 0 && value < 9.95 ? fmt::format("{:.1f}", value) : table::short_count(value);
}

// Times that fade's own cost leaves nothing of are "~0", as in the reports.
std::string duration(std::int64_t ns, std::int64_t calls, bool utf8) {
  if (calls == 0) return "-";
  return ns <= 0 ? std::string(kBelowMeasure) : table::human_duration(ns, table::Units::Auto, utf8);
}

std::string average(const std::optional<Rates>& rates, bool utf8) {
  if (!rates || rates->calls_n == 0) return "-";
  return duration(rates->time_ns / rates->calls_n, rates->calls_n, utf8);
}

Style style_of(const Item& item) {
  if (item.rates && item.rates->errors > 0) return Style::Bad;
  return item.rates && item.rates->calls_n == 0 && item.rates->samples == 0 ? Style::Dim : Style::Normal;
}

PanelRow timed_row(const Item& item, bool utf8) {
  return {{percent(item.rates, &Rates::time), rate(item.rates, &Rates::calls), average(item.rates, utf8),
           duration(item.total_ns, item.calls, utf8), count(item.calls), count(item.errors)},
          item.name,
          style_of(item)};
}

PanelRow line_row(const Item& item, bool utf8) {
  return {{percent(item.rates, &Rates::samples), rate(item.rates, &Rates::calls), percent(item.rates, &Rates::time),
           duration(item.total_ns, item.calls, utf8), count(item.calls), count(item.samples)},
          item.name,
          style_of(item)};
}

std::string titled(std::string_view words, std::size_t shown, std::size_t hidden) {
  return hidden == 0 ? fmt::format("{} ({})", words, shown)
                     : fmt::format("{} ({} of {})", words, shown, shown + hidden);
}

std::string if_empty(std::size_t hidden, std::string_view words) {
  return hidden > 0 ? "nothing matches the filter" : std::string(words);
}

Panel functions_panel(const View& view, bool utf8) {
  Panel panel{columns_of_numbers({"TIME%", "CALLS/S", "AVERAGE", "TOTAL", "CALLS", "ERRORS"}),
              titled("FUNCTION", view.functions.size(), view.functions_hidden),
              {},
              if_empty(view.functions_hidden,
                       view.without_hip ? "no HIP library is loaded: nothing calls HIP" : "no call was recorded yet")};
  for (const Item& item : view.functions) panel.rows.push_back(timed_row(item, utf8));
  return panel;
}

Panel kernels_panel(const View& view, bool utf8) {
  const std::string_view words = view.kernels_on_gpu   ? "KERNEL, GPU time"
                                 : view.kernels_of_all ? "KERNEL, all processes"
                                                       : "KERNEL, launch time";
  Panel panel{columns_of_numbers({"TIME%", "RUNS/S", "AVERAGE", "TOTAL", "RUNS", "ERRORS"}),
              titled(words, view.kernels.size(), view.kernels_hidden),
              {},
              if_empty(view.kernels_hidden, "no kernel was launched yet")};
  for (const Item& item : view.kernels) panel.rows.push_back(timed_row(item, utf8));
  return panel;
}

Panel lines_panel(const View& view, bool samples, bool utf8) {
  Panel panel{columns_of_numbers({"SEEN%", "CALLS/S", "TIME%", "TOTAL", "CALLS", "SEEN"}),
              titled("LINE", view.lines.size(), view.lines_hidden),
              {},
              if_empty(view.lines_hidden,
                       samples ? "no sample and no stack yet" : "no sample and no stack yet; record with --sample 20")};
  for (const Item& item : view.lines) panel.rows.push_back(line_row(item, utf8));
  return panel;
}

// What a program allocated before fade came is not known.
std::string memory_of(const ProcessItem& process) {
  if (!process.memory_before) return table::human_bytes(process.memory);
  return process.memory == 0 ? "-" : ">=" + table::human_bytes(process.memory);
}

PanelRow process_row(const ProcessItem& process, std::int64_t chosen) {
  const Style style = process.ended ? Style::Dim : process.id == chosen ? Style::Strong : Style::Normal;
  return {{percent(process.rates, &Rates::time), rate(process.rates, &Rates::calls),
           rate(process.rates, &Rates::launches), memory_of(process), count(process.calls), count(process.errors)},
          fmt::format("{}{} {}{}", process.id == chosen ? "> " : "", process.pid, table::short_command(process.command),
                      process.ended ? " (ended)" : ""),
          style};
}

Panel processes_panel(const View& view, std::int64_t chosen) {
  Panel panel{columns_of_numbers({"WAIT%", "CALLS/S", "LAUNCH/S", "GPU MEMORY", "CALLS", "ERRORS"}),
              fmt::format("PROCESS ({})", view.processes.size()),
              {},
              "no process yet",
              true};
  for (const ProcessItem& process : view.processes) panel.rows.push_back(process_row(process, chosen));
  return panel;
}

PanelRow failure_row(const Failure& failure, const View& view) {
  const std::int64_t age = std::max<std::int64_t>(0, view.since_ns - failure.last_ns);
  return {
      {clock_text(failure.last_ns), count(failure.repeats), std::to_string(failure.pid)},
      fmt::format("{}: {}{}{}", failure.name, failure.error, failure.caller.empty() ? "" : " from ", failure.caller),
      !view.clean && age < kNews ? Style::Bad : Style::Normal};
}

Panel errors_panel(const View& view) {
  Panel panel{{{"AT", 10}, {"TIMES", 7}, {"PID", 9}}, "ERROR, newest first", {}, "no call failed", true};
  if (view.whole.errors > 0) panel.if_empty = "no failure: normal answers, or hidden by the filter";
  for (const Failure& failure : view.failures) panel.rows.push_back(failure_row(failure, view));
  return panel;
}

}  // namespace

std::string clock_text(std::int64_t ns) {
  const std::int64_t seconds = std::max<std::int64_t>(0, ns) / kSecond;
  return fmt::format("{}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
}

std::vector<Panel> panels_of(const View& view, std::int64_t chosen, bool samples, bool utf8) {
  return {processes_panel(view, chosen), functions_panel(view, utf8), kernels_panel(view, utf8),
          lines_panel(view, samples, utf8), errors_panel(view)};
}

}  // namespace fade::cli::top
