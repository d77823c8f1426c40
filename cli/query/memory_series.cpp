#include "cli/query/memory_series.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/query/named_row.hpp"
#include "cli/table/human.hpp"
#include "schema/schema.hpp"

namespace fade::query {
namespace {

// A merged report has no processes that tell one series from another. Without --merge pages read the view themselves:
// the report's column of percent costs ten times as much as all that a plot needs.
std::string sql_for(const Context& context, const Recording& recording, std::string_view page) {
  if (!context.settings.merge) return std::string(schema::page_sql(page));
  return over(filtered_sql(context, recording, "memory_merged"), schema::page_sql(std::string(page) + "_merged"));
}

std::string key_of(const NamedRow& row) { return row.text("pid") + "/" + row.text("device") + "/" + row.text("kind"); }

Result<std::map<std::string, MemorySeries>> read_series(const Context& context, Recording& recording, TimeSpan& span) {
  auto totals = named_rows(context, recording, sql_for(context, recording, "memory_series"));
  if (!totals) return tl::unexpected(totals.error());
  std::map<std::string, MemorySeries> out;
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
Result<void> extend_to_the_end(const Context& context, Recording& recording, TimeSpan& span) {
  if (context.settings.to_ns) return {};
  auto ends = named_rows(context, recording, schema::page_sql("memory_until"));
  if (!ends) return tl::unexpected(ends.error());
  if (!ends->empty() && span.last > span.first) span.last = std::max(span.last, ends->front().number("until"));
  return {};
}

// Each column: the most that was in use in its time, or what was in use before it.
Result<void> read_columns(const Context& context, Recording& recording, TimeSpan span, std::size_t most,
                          std::map<std::string, MemorySeries>& all) {
  const std::size_t width = span.last > span.first ? most : 1;
  auto columns = named_rows(context, recording, sql_for(context, recording, "memory_columns"),
                            {{":first", span.first},
                             {":width", static_cast<std::int64_t>(width)},
                             {":span", std::max<std::int64_t>(1, span.last - span.first + 1)}});
  if (!columns) return tl::unexpected(columns.error());
  for (const NamedRow& c : *columns) {
    MemorySeries& series = all[key_of(c)];
    series.columns.resize(static_cast<std::size_t>(c.number("part")), series.end);
    series.columns.push_back(std::max(c.number("peak"), series.end));
    series.end = c.number("used");
  }
  for (auto& [key, series] : all) series.columns.resize(width, series.end);
  return {};
}

// The sums of the whole recording know more than its timeline, which a size limit may have ended. Of several processes
// together only what is left adds up; a part of the time has no sums.
Result<void> take_sums(const Context& context, Recording& recording, std::map<std::string, MemorySeries>& all) {
  if (context.settings.from_ns || context.settings.to_ns) return {};
  auto sums = named_rows(context, recording, schema::page_sql("memory_sums"));
  if (!sums) return tl::unexpected(sums.error());
  for (const NamedRow& sum : *sums) {
    const bool merge = context.settings.merge;
    const auto found = all.find(merge ? "/" + sum.text("device") + "/" + sum.text("kind") : key_of(sum));
    if (found == all.end()) continue;
    MemorySeries& series = found->second;
    series.left += sum.number("live_at_end");
    if (merge) continue;
    if (sum.number("peak") > series.peak) series.peak = sum.number("peak"), series.peak_at = sum.number("peak_at");
    series.allocs = sum.number("allocs");
    series.frees = sum.number("frees");
  }
  return {};
}

}  // namespace

Result<MemoryOverTime> memory_series(const Context& context, Recording& recording, std::size_t width) {
  MemoryOverTime out;
  auto all = read_series(context, recording, out.span);
  if (!all) return tl::unexpected(all.error());
  if (all->empty()) return out;
  if (auto done = extend_to_the_end(context, recording, out.span); !done) return tl::unexpected(done.error());
  if (auto done = read_columns(context, recording, out.span, width, *all); !done) return tl::unexpected(done.error());
  if (auto done = take_sums(context, recording, *all); !done) return tl::unexpected(done.error());
  out.series = std::move(*all);
  return out;
}

std::string memory_figures(const Context& context, const MemorySeries& s, std::string_view left) {
  if (s.allocs == 0) return "no allocation was seen";
  const std::string rest = s.left > 0 ? fmt::format(", {} {}", table::human_bytes(s.left), left) : "";
  return fmt::format("at most {} at {}{}; {}, {}", table::human_bytes(s.peak),
                     table::human_time(s.peak_at, context.settings.units), rest,
                     table::human_counted(s.allocs, "allocation"), table::human_counted(s.frees, "free"));
}

}  // namespace fade::query
