// Everything over time: calls, load of GPUs, memory, steps and ranges, in at most some hundred columns each.
#include <fmt/format.h>

#include <algorithm>

#include "cli/query/doubts.hpp"
#include "cli/query/html_data.hpp"
#include "cli/query/memory_series.hpp"
#include "cli/table/human.hpp"

namespace fade::query::html {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000, kColumns = 1200, kMostRows = 300'000, kMostSpans = 3000;
constexpr std::int64_t kMostSeries = 24;

std::int64_t end_of_run(const Source& source) {
  const auto rows = source.rows("memory_until");
  return rows && !rows->empty() ? std::max<std::int64_t>(rows->front().number("until"), 1) : 1;
}

std::int64_t all_calls(const Source& source) {
  const auto rows = source.rows("call_totals");
  return rows && !rows->empty() ? rows->front().number("calls") : 0;
}

// Few calls, each with a row, can be drawn finer than the rollups' seconds.
bool draws_single_calls(const Source& source, std::int64_t until) {
  const std::int64_t calls = all_calls(source);
  return until < kColumns * kSecond / 4 && calls > 0 && calls <= kMostRows &&
         why_without_rows(source.recording, source.session, "calls").empty();
}

std::int64_t column_width(std::int64_t until, bool fine) {
  const std::int64_t wish = until / (fine ? kColumns / 4 : kColumns) + 1;
  return fine ? wish : (wish + kSecond - 1) / kSecond * kSecond;
}

Result<Json> call_columns(const Source& source, std::int64_t width, bool fine) {
  const auto rows = source.rows(fine ? "html_calls" : "html_seconds", {{":width", width}});
  if (!rows) return tl::unexpected(rows.error());
  Json out = Json::array();
  for (const NamedRow& r : *rows)
    out.push_back({r.number("part") * width, r.number("calls"), r.number("errors"), r.number("launches")});
  return out;
}

Json gpu_tracks(const Source& source, std::int64_t until) {
  Json out = Json::array();
  const auto rows = source.rows("html_gpus", {{":width", until / kColumns + 1}});
  if (!rows) return out;
  for (const NamedRow& r : *rows) {
    const std::string name = fmt::format("node {}", r.number("node"));
    if (out.empty() || out.back()["name"] != name) out.push_back({{"name", name}, {"points", Json::array()}});
    const auto* busy = std::get_if<double>(&r.at("busy"));
    out.back()["points"].push_back(
        {r.number("start"), r.number("until") - r.number("start"), busy ? Json(*busy) : Json()});
  }
  return out;
}

Json points_of(const MemorySeries& series, TimeSpan span) {
  Json out = Json::array();
  const auto width = static_cast<std::int64_t>(std::max<std::size_t>(series.columns.size(), 1));
  for (std::size_t i = 0; i < series.columns.size(); ++i)
    if (i == 0 || series.columns[i] != series.columns[i - 1])
      out.push_back(
          {span.first + static_cast<std::int64_t>(i) * (span.last - span.first + 1) / width, series.columns[i]});
  return out;
}

Json series_json(const Source& source, const MemorySeries& s, TimeSpan span, std::string_view left) {
  const std::int64_t most = s.columns.empty() ? 0 : *std::ranges::max_element(s.columns);
  return {{"pid", s.pid},
          {"device", s.device.empty() ? Json() : Json(s.device)},
          {"kind", s.kind},
          {"words", memory_figures(source.context, s, left)},
          {"most", most},
          {"peak", s.peak},
          {"left", s.left},
          {"peak_at", std::clamp(s.peak_at, span.first, std::max(span.first, span.last))},
          {"points", points_of(s, span)}};
}

// Those with the highest peaks.
std::vector<const MemorySeries*> highest(const MemoryOverTime& memory, std::int64_t most) {
  std::vector<const MemorySeries*> out;
  for (const auto& [key, series] : memory.series) out.push_back(&series);
  std::ranges::stable_sort(out, std::ranges::greater(), &MemorySeries::peak);
  out.resize(std::min<std::size_t>(out.size(), static_cast<std::size_t>(most)));
  return out;
}

Json spans(NamedRows rows, bool steps) {
  std::ranges::sort(rows, {}, [](const NamedRow& r) { return r.number("start"); });
  Json out = Json::array();
  for (const NamedRow& r : rows) {
    Json span{{"start", r.number("start")}, {"duration", r.number("duration")}, {"name", shown(r, "name")}};
    if (steps) span["name"] = fmt::format("{} {}", r.number("idx"), shown(r, "name")), span["slow"] = r.is("slow");
    out.push_back(std::move(span));
  }
  return out;
}

std::string left_out(const NamedRows& rows, std::string_view what, const std::string& command) {
  const std::int64_t all = rows.empty() ? 0 : rows.front().number("n"), shown = static_cast<std::int64_t>(rows.size());
  return all <= shown ? ""
                      : fmt::format("{} of {} {} are drawn, the longest: {} shows all", table::human_count(shown),
                                    table::human_count(all), what, command);
}

Json timeline_remarks(const Source& source, std::int64_t width, bool fine) {
  Json out = Json::array();
  add_text(out, remark(source.recording, source.session, "calls", false));
  out.push_back(fmt::format("A column of calls is {}{}. Single calls: {} lists them in order.",
                            table::human_duration(width, table::Units::Auto, true),
                            fine ? "" : ", the finest that the sums hold", source.command("calls")));
  return out;
}

}  // namespace

const Result<MemoryOverTime>& Source::memory() const {
  if (!memory_read)
    memory_read = std::make_shared<const Result<MemoryOverTime>>(memory_series(context, recording, kColumns / 2));
  return *memory_read;
}

Result<Json> timeline_part(const Source& source) {
  const std::int64_t until = end_of_run(source);
  const bool fine = draws_single_calls(source, until);
  const std::int64_t width = column_width(until, fine), most = source.most(kMostSpans);
  auto calls = call_columns(source, width, fine);
  const auto& memory = source.memory();
  const auto steps = source.rows("html_steps", {{":most", most}}),
             ranges = source.rows("html_ranges", {{":most", most}});
  if (!calls) return calls;
  Json out{{"from", 0},
           {"to", until},
           {"width", width},
           {"calls", *calls},
           {"gpus", gpu_tracks(source, until)},
           {"busy", busy_tracks(source, until)},
           {"notes", Json::array()},
           {"remarks", Json::array()}};
  out["memory"] = out["steps"] = out["ranges"] = Json::array();
  if (!calls->empty()) out["remarks"] = timeline_remarks(source, width, fine);
  if (memory)
    for (const MemorySeries* s : highest(*memory, 6))
      out["memory"].push_back(series_json(source, *s, memory->span, ""));
  if (steps)
    out["steps"] = spans(*steps, true),
    add_text(out["remarks"], left_out(*steps, "steps", source.command("steps --limit 0")));
  if (ranges)
    out["ranges"] = spans(*ranges, false),
    add_text(out["remarks"], left_out(*ranges, "ranges", source.command("ranges")));
  const std::string partial = why_partial(source.recording, source.session, "calls");
  if (calls->empty())
    out["notes"].push_back(partial.empty() ? "no call was recorded"
                                           : shown("no call was recorded, and not all was watched: " + partial));
  if (out["gpus"].empty() && out["busy"].empty())
    out["notes"].push_back("no load of a GPU: no sensor of an AMD GPU was read (" + source.command("sensors") +
                           "), and no times of its work (fade-run --gpu-times)");
  return out;
}

Result<Json> memory_part(const Source& source) {
  const auto& memory = source.memory();
  if (!memory) return tl::unexpected(memory.error());
  Json out{
      {"series", Json::array()}, {"from", memory->span.first}, {"to", memory->span.last}, {"remarks", Json::array()}};
  const std::string partial = why_partial(source.recording, source.session, "allocations");
  if (memory->series.empty()) {
    out["nothing"] = partial.empty() ? "Nothing was allocated."
                                     : shown("No allocation was seen, and not all were watched: " + partial + ".");
    return out;
  }
  const bool open = !why_open(source.recording, source.session, "frees").empty();
  for (const MemorySeries* s : highest(*memory, kMostSeries))
    out["series"].push_back(series_json(source, *s, memory->span, open ? "not seen to be freed" : "never freed"));
  if (memory->series.size() > kMostSeries)
    out["remarks"].push_back(
        fmt::format("{} more with less: {}", memory->series.size() - kMostSeries, source.command("memory --limit 0")));
  add_text(out["remarks"], remark(source.recording, source.session, "memory", false));
  return out;
}

Result<Json> steps_part(const Source& source) {
  const auto rows = source.rows("html_steps", {{":most", source.most(kMostSpans)}});
  if (!rows) return tl::unexpected(rows.error());
  Json out{{"steps", spans(*rows, true)}, {"remarks", Json::array()}, {"command", source.command("steps")}};
  add_text(out["remarks"], left_out(*rows, "steps", source.command("steps --limit 0")));
  if (rows->empty())
    out["nothing"] = "no steps were recorded: fade-run --step 'range:*' or --step FUNCTION says what a step is";
  return out;
}

}  // namespace fade::query::html
