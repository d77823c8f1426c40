// memory for people: how much of each device's memory was in use over time, as a plot for each process, and pinned
// memory of the host in a part of its own. Many moments share a column, which shows their highest value. The rows are
// those of the report memory.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "cli/query/command.hpp"
#include "cli/query/doubts.hpp"
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

// The memory of one kind that one process has on one device; with --merge that all processes have.
struct Series {
  std::string pid, device, kind;
  table::Value rank;
  std::int64_t peak = 0, peak_at = 0, end = 0, allocs = 0, frees = 0;
  std::int64_t left = 0;  // when the process or the recording ended
  std::vector<std::int64_t> columns;

  bool of_host() const { return kind == "host" || kind == "registered"; }
};

struct Span {
  std::int64_t first = 0, last = 0;
};

// A merged report has no processes that tell one series from another.
std::string_view page_for(const Context& context, std::string_view page) {
  return schema::page_sql(std::string(page) + (context.settings.merge ? "_merged" : ""));
}

std::string key_of(const NamedRow& row) { return row.text("pid") + "/" + row.text("device") + "/" + row.text("kind"); }

Result<std::map<std::string, Series>> read_series(const Context& context, Recording& recording, const std::string& rows,
                                                  Span& span) {
  auto totals = named_rows(context, recording, over(rows, page_for(context, "memory_series")));
  if (!totals) return tl::unexpected(totals.error());
  std::map<std::string, Series> out;
  for (const NamedRow& t : *totals) {
    span = {t.number("first"), t.number("last")};
    out[key_of(t)] = {t.text("pid"),
                      t.text("device"),
                      t.text("kind"),
                      t.at("rank"),
                      t.number("peak"),
                      t.number("peak_at"),
                      0,
                      t.number("allocs"),
                      t.number("frees"),
                      {}};
  }
  return out;
}

// To the end of the last process, though nothing changed any more.
Result<void> extend_to_the_end(const Context& context, Recording& recording, Span& span) {
  if (context.settings.to_ns) return {};
  auto ends = named_rows(context, recording, schema::page_sql("memory_until"));
  if (!ends) return tl::unexpected(ends.error());
  if (!ends->empty() && span.last > span.first) span.last = std::max(span.last, ends->front().number("until"));
  return {};
}

// Each column: the most that was in use in its time, or what was in use before it.
Result<void> read_columns(const Context& context, Recording& recording, const std::string& rows, Span span,
                          std::map<std::string, Series>& all) {
  const std::size_t width = span.last > span.first ? plot_columns(context.output.style.terminal.width) : 1;
  auto columns = named_rows(context, recording, over(rows, page_for(context, "memory_columns")),
                            {{":first", span.first},
                             {":width", static_cast<std::int64_t>(width)},
                             {":span", std::max<std::int64_t>(1, span.last - span.first + 1)}});
  if (!columns) return tl::unexpected(columns.error());
  for (const NamedRow& c : *columns) {
    Series& series = all[key_of(c)];
    series.columns.resize(static_cast<std::size_t>(c.number("part")), series.end);
    series.columns.push_back(std::max(c.number("peak"), series.end));
    series.end = c.number("used");
  }
  for (auto& [key, series] : all) series.columns.resize(width, series.end);
  return {};
}

// The sums of the whole recording know more than its timeline, which a size limit may have ended. Of several processes
// together only what is left adds up; a part of the time has no sums.
Result<void> take_sums(const Context& context, Recording& recording, std::map<std::string, Series>& all) {
  if (context.settings.from_ns || context.settings.to_ns) return {};
  auto sums = named_rows(context, recording, schema::page_sql("memory_sums"));
  if (!sums) return tl::unexpected(sums.error());
  for (const NamedRow& sum : *sums) {
    const bool merge = context.settings.merge;
    const auto found = all.find(merge ? "/" + sum.text("device") + "/" + sum.text("kind") : key_of(sum));
    if (found == all.end()) continue;
    Series& series = found->second;
    series.left += sum.number("live_at_end");
    if (merge) continue;
    if (sum.number("peak") > series.peak) series.peak = sum.number("peak"), series.peak_at = sum.number("peak_at");
    series.allocs = sum.number("allocs");
    series.frees = sum.number("frees");
  }
  return {};
}

// "at most 3.00 MiB at +0.10 s, 1.00 MiB never freed; 3 allocations, 2 frees"
std::string figures(const Context& context, const Series& s, std::string_view left) {
  if (s.allocs == 0) return "no allocation was seen";
  const std::string rest = s.left > 0 ? fmt::format(", {} {}", table::human_bytes(s.left), left) : "";
  return fmt::format("at most {} at {}{}; {}, {}", table::human_bytes(s.peak),
                     table::human_time(s.peak_at, context.settings.units), rest,
                     table::human_counted(s.allocs, "allocation"), table::human_counted(s.frees, "free"));
}

std::string title(const Context& context, const Series& s, std::string_view left) {
  const std::string who = s.pid.empty() ? "all processes" : process_words(s.rank, s.pid);
  const std::string device = s.device.empty() ? "an unknown device" : "device " + s.device;
  const std::string what = s.kind == "host"         ? "pinned memory"
                           : s.kind == "registered" ? "registered memory"
                           : s.kind == "device"     ? device
                                                    : fmt::format("{}, {} memory", device, s.kind);
  return fmt::format("{}, {}: {}", who, what, figures(context, s, left));
}

std::string plot_text(const Context& context, const Series& s, std::size_t height) {
  return plot_with_scale(s.columns, {.height = height, .utf8 = context.output.style.terminal.utf8},
                         table::human_bytes(*std::ranges::max_element(s.columns)));
}

std::string axis(const Context& context, Span span, std::size_t width) {
  return time_axis(table::human_time(span.first, context.settings.units),
                   table::human_time(span.last, context.settings.units), width);
}

Result<void> print_part(Context& context, const char* heading, const std::vector<const Series*>& part, Span span,
                        std::size_t height, std::string_view left) {
  if (part.empty()) return {};
  std::string text = bold(context, heading) + "\n";
  for (const Series* s : part) {
    text += "  " + paragraph(context, title(context, *s, left), 4) + "\n";
    if (s->columns.size() > 1) text += plot_text(context, *s, height);
  }
  if (span.last > span.first) text += axis(context, span, part.front()->columns.size());
  return context.output.bytes->write(text + "\n");
}

// `left`: the words for memory that was live at the end.
Result<void> print_all(Context& context, const std::map<std::string, Series>& all, Span span, std::string_view left) {
  std::vector<const Series*> shown;
  for (const auto& [key, series] : all) shown.push_back(&series);
  std::ranges::stable_sort(shown, std::ranges::greater(), &Series::peak);
  const std::size_t left_out = shown.size() - std::min(shown.size(), kMostPlots);
  shown.resize(shown.size() - left_out);
  std::ranges::sort(shown, std::ranges::less(), [](const Series* s) {
    return std::tuple(table::is_null(s->rank) ? 0 : integer(s->rank), s->pid, s->device, s->kind);
  });
  const std::size_t height = std::clamp<std::size_t>(kMostPlotLines / std::max<std::size_t>(1, shown.size()) - 1, 1, 6);
  std::vector<const Series*> device, host;
  for (const Series* s : shown) (s->of_host() ? host : device).push_back(s);
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
  const std::string rows = filtered_sql(context, recording, context.settings.merge ? "memory_merged" : "memory");
  Span span;
  auto all = read_series(context, recording, rows, span);
  if (!all) return tl::unexpected(all.error());
  if (all->empty()) return say_nothing(context, recording);
  if (auto done = extend_to_the_end(context, recording, span); !done) return done;
  if (auto done = read_columns(context, recording, rows, span, *all); !done) return done;
  if (auto done = take_sums(context, recording, *all); !done) return done;
  const auto session = chosen_session(context.settings, recording);
  if (!session) return tl::unexpected(session.error());
  const bool open = !why_open(recording, *session, "frees").empty();
  if (auto done = print_all(context, *all, span, open ? "not seen to be freed" : "never freed"); !done) return done;
  return context.output.bytes->write(
      paragraph(context,
                "What was live at the peak: fade-query memory --peak; each moment: fade-query memory --limit 0.", 0) +
      "\n");
}

}  // namespace fade::query
