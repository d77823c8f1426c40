// memory for people: how much of each device's memory was in use over time, as a plot for each process, and pinned
// memory of the host in a part of its own. Many moments share a column, which shows their highest value. The rows are
// those of the report memory.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "cli/query/command.hpp"
#include "cli/query/doubts.hpp"
#include "cli/query/memory_series.hpp"
#include "cli/query/named_row.hpp"
#include "cli/query/page.hpp"
#include "cli/query/plot.hpp"
#include "cli/query/prose.hpp"
#include "cli/query/ranks.hpp"
#include "cli/query/report.hpp"
#include "cli/table/human.hpp"
#include "cli/table/text.hpp"
#include "schema/schema.hpp"

namespace fade::query {
namespace {

constexpr std::size_t kMostPlots = 8, kMostPlotLines = 32;  // of all plots together

std::string title(const Context& context, const MemorySeries& s, std::string_view left) {
  const std::string who = s.pid.empty() ? "all processes" : process_words(s.rank, s.pid);
  const std::string device = s.device.empty() ? "an unknown device" : "device " + s.device;
  const std::string what = s.kind == "host"         ? "pinned memory"
                           : s.kind == "registered" ? "registered memory"
                           : s.kind == "device"     ? device
                                                    : fmt::format("{}, {} memory", device, s.kind);
  return fmt::format("{}, {}: {}", who, what, memory_figures(context, s, left));
}

std::string plot_text(const Context& context, const MemorySeries& s, std::size_t height) {
  return plot_with_scale(s.columns, {.height = height, .utf8 = context.output.style.terminal.utf8},
                         table::human_bytes(*std::ranges::max_element(s.columns)));
}

std::string axis(const Context& context, TimeSpan span, std::size_t width) {
  return time_axis(table::human_time(span.first, context.settings.units),
                   table::human_time(span.last, context.settings.units), width);
}

Result<void> print_part(Context& context, const char* heading, const std::vector<const MemorySeries*>& part,
                        TimeSpan span, std::size_t height, std::string_view left) {
  if (part.empty()) return {};
  std::string text = bold(context, heading) + "\n";
  for (const MemorySeries* s : part) {
    text += "  " + paragraph(context, title(context, *s, left), 4) + "\n";
    if (s->columns.size() > 1) text += plot_text(context, *s, height);
  }
  if (span.last > span.first) text += axis(context, span, part.front()->columns.size());
  return context.output.bytes->write(text + "\n");
}

// `left`: the words for memory that was live at the end.
Result<void> print_all(Context& context, const std::map<std::string, MemorySeries>& all, TimeSpan span,
                       std::string_view left) {
  std::vector<const MemorySeries*> shown;
  for (const auto& [key, series] : all) shown.push_back(&series);
  std::ranges::stable_sort(shown, std::ranges::greater(), &MemorySeries::peak);
  const std::size_t left_out = shown.size() - std::min(shown.size(), kMostPlots);
  shown.resize(shown.size() - left_out);
  std::ranges::sort(shown, std::ranges::less(), [](const MemorySeries* s) {
    return std::tuple(table::is_null(s->rank) ? 0 : integer(s->rank), s->pid, s->device, s->kind);
  });
  const std::size_t height = std::clamp<std::size_t>(kMostPlotLines / std::max<std::size_t>(1, shown.size()) - 1, 1, 6);
  std::vector<const MemorySeries*> device, host;
  for (const MemorySeries* s : shown) (s->of_host() ? host : device).push_back(s);
  if (auto done = print_part(context, "Memory of the GPU", device, span, height, left); !done) return done;
  if (auto done = print_part(context, "Memory of the host", host, span, height, left); !done) return done;
  return left_out == 0 ? Result<void>{}
                       : context.output.bytes->write(
                             fmt::format("... and {} with less: fade-query memory --limit 0\n",
                                         table::human_counted(static_cast<std::int64_t>(left_out), "process or kind")));
}

Result<void> say_nothing(Context& context, Recording& recording) {
  const auto session = chosen_session(context.settings, recording);
  if (!session) return tl::unexpected(session.error());
  context.told_doubts = true;
  const std::string partial = why_partial(recording, *session, "allocations");
  const std::string text =
      partial.empty() ? "Nothing was allocated." : "No allocation was seen, and not all were watched: " + partial + ".";
  return context.output.bytes->write(paragraph(context, text, 0) + "\n");
}

}  // namespace

Result<void> show_memory(Context& context, Recording& recording) {
  if (context.settings.peak) return show_peak(context, recording);
  if (auto fine = check_filters(context.settings, *find_report("memory")); !fine) return fine;
  auto all = memory_series(context, recording, plot_columns(context.output.style.terminal.width));
  if (!all) return tl::unexpected(all.error());
  if (all->series.empty()) return say_nothing(context, recording);
  const auto session = chosen_session(context.settings, recording);
  if (!session) return tl::unexpected(session.error());
  const bool open = !why_open(recording, *session, "frees").empty();
  if (auto done = print_all(context, all->series, all->span, open ? "not seen to be freed" : "never freed"); !done)
    return done;
  return context.output.bytes->write(
      paragraph(context,
                "What was live at the peak: fade-query memory --peak; each moment: fade-query memory --limit 0.", 0) +
      "\n");
}

}  // namespace fade::query
