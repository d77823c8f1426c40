// What a timeline has besides calls. Each part is an SQL page, and all have the same columns (kMarkColumns); every
// other column is an argument; device and stream say where work of a GPU stands.
#include <algorithm>
#include <array>

#include "base/glob.hpp"
#include "cli/query/report.hpp"
#include "cli/query/timeline_source.hpp"
#include "schema/schema.hpp"

namespace fade::query {
namespace {

constexpr std::array<std::string_view, 11> kMarkColumns{"session",  "pid",  "tid",   "lane", "folds", "instant",
                                                        "category", "name", "start", "end",  "flow"};

constexpr MarkPart kMarkParts[] = {
    {"timeline_gaps", true},       {"timeline_process_events", false}, {"timeline_steps", true},
    {"timeline_ranges", true},     {"timeline_operators", true},       {"timeline_errors", false},
    {"timeline_overrides", false}, {"timeline_samples", false},        {"timeline_copies", false, false}};

timeline::Value value_of(const table::Value& value) {
  if (const auto* n = std::get_if<std::int64_t>(&value)) return *n;
  if (const auto* x = std::get_if<double>(&value)) return *x;
  return std::string_view(std::get<std::string>(value));
}

std::vector<timeline::Argument> arguments_of(const NamedRow& row) {
  std::vector<timeline::Argument> out;
  row.each([&](std::string_view column, const table::Value& value) {
    if (!is_mark_column(column) && !table::is_null(value))
      out.push_back({column, value_of(value), std::holds_alternative<std::string>(value)});
  });
  return out;
}

// The process or thread of the row; 0 if it is of the whole recording.
Result<std::uint64_t> owner_of(TimelineSource& source, const NamedRow& row) {
  if (!row.has("pid")) return 0;
  if (!row.has("tid")) return source.tracks.process({.session = row.number("session"), .pid = row.number("pid")});
  return source.tracks.thread(row.number("session"), row.number("pid"), row.number("tid"), {});
}

Result<void> add_mark(TimelineSource& source, const NamedRow& row) {
  auto owner = owner_of(source, row);
  if (!owner) return tl::unexpected(owner.error());
  const std::int64_t session = row.number("session");
  timeline::Event event{.start = source.clocks.at(session, row.number("start"))};
  if (row.has("end")) event.end = source.clocks.at(session, row.number("end"));
  const TimelineTracks::Lane lane{*owner, row.raw("lane"), row.is("folds"),
                                  row.has("device") ? row.number("device") : -1,
                                  row.has("stream") ? row.number("stream") : -1};
  auto track = row.is("instant") ? source.tracks.lane(lane) : source.tracks.lane_for(lane, event.start, event.end);
  if (!track) return tl::unexpected(track.error());
  const std::string name = row.raw("name"), category = row.raw("category");
  const auto arguments = arguments_of(row);
  event.track = *track;
  event.name = name;
  event.category = category;
  event.arguments = arguments;
  event.flow_in = static_cast<std::uint64_t>(std::max<std::int64_t>(row.number("flow"), 0));
  return row.is("instant") ? source.writer.instant(event) : source.writer.slice(event);
}

Result<void> add_count(TimelineSource& source, const NamedRow& row) {
  auto owner = owner_of(source, row);
  if (!owner) return tl::unexpected(owner.error());
  auto track = source.tracks.counter(*owner, row.raw("counter"), row.is("is_bytes"));
  if (!track) return tl::unexpected(track.error());
  return source.writer.count(*track, source.clocks.at(row.number("session"), row.number("start")), row.number("value"));
}

using Add = Result<void> (*)(TimelineSource&, const NamedRow&);

Result<void> add_page(TimelineSource& source, std::string_view sql, bool in_order, Add add) {
  return for_each_row(source, filtered_page(sql, in_order), [&](const NamedRow& row) { return add(source, row); });
}

}  // namespace

std::string filtered_page(std::string_view page, bool in_order) {
  return "SELECT m.* FROM (\n" + std::string(page) + R"(
) m
WHERE (:session IS NULL OR m.session = :session) AND (:pid IS NULL OR m.pid IS NULL OR m.pid = :pid)
  AND (:tid IS NULL OR m.tid IS NULL OR m.tid = :tid)
  AND (:rank IS NULL OR m.pid IS NULL
       OR (m.session, m.pid) IN (SELECT session, pid FROM process_ranks WHERE rank = :rank))
  AND (:from IS NULL OR m."end" IS NULL OR m."end" >= :from) AND (:to IS NULL OR m.start < :to))" +
         std::string(in_order ? "\nORDER BY m.session, m.start, m.\"end\" DESC" : "");
}

std::span<const MarkPart> mark_parts() { return kMarkParts; }

bool is_mark_column(std::string_view column) { return std::ranges::find(kMarkColumns, column) != kMarkColumns.end(); }

bool has_gpu_work(Recording& recording) {
  const auto row = recording.database.one("SELECT 1 FROM gpu_work LIMIT 1");
  return row && !table::is_null(*row);
}

Result<void> add_processes(TimelineSource& source) {
  const auto add_process = [&](const NamedRow& row) -> Result<void> {
    std::string name(base_name(row.raw("exe")));
    if (row.has("rank")) name += " (rank " + row.raw("rank") + ")";
    auto made = source.tracks.process({row.number("session"), row.number("pid"), name, row.raw("command")});
    return made ? Result<void>{} : tl::unexpected(made.error());
  };
  return for_each_row(source, std::string(schema::page_sql("timeline_processes")), add_process);
}

Result<void> add_marks(TimelineSource& source) {
  for (const MarkPart& part : kMarkParts)
    if (part.in_kineto || !source.kineto)
      if (auto done = add_page(source, schema::page_sql(part.page), part.has_slices, add_mark); !done) return done;
  for (const std::string_view page : {"timeline_memory", "timeline_sensors"})
    if (auto done = add_page(source, schema::page_sql(page), false, add_count); !done) return done;
  return has_gpu_work(source.recording) ? add_page(source, schema::page_sql("timeline_gpu_work"), true, add_mark)
                                        : Result<void>{};
}

}  // namespace fade::query
