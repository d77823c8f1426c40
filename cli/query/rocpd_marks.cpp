// Ranges, steps, errors and gaps in a rocpd database: slices of a thread are regions, everything else is a sample.
// Ranges of the program are markers, as rocprofv3 has them.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "cli/query/rocpd_source.hpp"
#include "cli/table/text.hpp"
#include "schema/schema.hpp"

namespace fade::query {
namespace {

struct MarkName {
  std::string category, name;
};

// rocprofv3 names a marker by its function; the program's text is the message.
MarkName mark_name(const NamedRow& row) {
  std::string category = row.raw("category");
  if (category == "range" && row.is("instant")) return {"MARKER_CORE_API", "roctxMarkA"};
  if (category == "range")
    return {"MARKER_CORE_RANGE_API", row.raw("lane") == "ranges" ? "roctxThreadRangeA" : "roctxProcessRangeA"};
  std::ranges::transform(category, category.begin(),
                         [](unsigned char c) { return c == ' ' ? '_' : static_cast<char>(std::toupper(c)); });
  return {"FADE_" + category, row.raw("name")};
}

std::string json_of(const table::Value& value) {
  if (std::holds_alternative<std::string>(value)) return table::json_quote(std::get<std::string>(value));
  return table::raw_text(value);
}

std::string message_of(const NamedRow& row) {
  std::string out = fmt::format("{{\"message\":{}", table::json_quote(row.raw("name")));
  row.each([&](std::string_view column, const table::Value& value) {
    if (is_mark_column(column) || table::is_null(value)) return;
    out += fmt::format(",{}:{}", table::json_quote(column), json_of(value));
  });
  return out + "}";
}

class RocpdMarks {
 public:
  explicit RocpdMarks(RocpdExport& to) : to_(to) {}
  Result<void> run();

 private:
  Result<void> prepare();
  Result<void> add(const NamedRow& row);
  Result<void> add_region(const NamedRow& row, std::int64_t thread, const MarkName& name, std::int64_t event);
  Result<void> add_sample(const NamedRow& row, const table::Value& thread, const MarkName& name, std::int64_t event);
  Result<std::int64_t> track(const table::Value& process, const table::Value& thread, const std::string& name);
  table::Value process_of(const NamedRow& row) const;
  table::Value thread_of(const NamedRow& row) const;

  RocpdExport& to_;
  rocpd::Rows *tracks_ = nullptr, *samples_ = nullptr, *regions_ = nullptr;
  std::map<std::tuple<table::Value, table::Value, std::string>, std::int64_t> known_;
  std::int64_t last_track_ = 0;
};

Result<void> RocpdMarks::prepare() {
  const std::array<std::string, 5> track{"id", "nid", "pid", "tid", "name_id"};
  const std::array<std::string, 3> sample{"track_id", "timestamp", "event_id"};
  const std::array<std::string, 7> region{"nid", "pid", "tid", "start", "end", "name_id", "event_id"};
  auto tracks = to_.file.rows("track", track), samples = to_.file.rows("sample", sample),
       regions = to_.file.rows("region", region);
  if (!tracks) return tl::unexpected(tracks.error());
  if (!samples) return tl::unexpected(samples.error());
  if (!regions) return tl::unexpected(regions.error());
  tracks_ = *tracks;
  samples_ = *samples;
  regions_ = *regions;
  return {};
}

table::Value RocpdMarks::process_of(const NamedRow& row) const {
  const auto found = to_.processes.find({row.number("session"), row.number("pid")});
  return row.has("pid") && found != to_.processes.end() ? table::Value(found->second) : table::Value();
}

// Some pages have the thread as an argument, because their instants stand on the process.
table::Value RocpdMarks::thread_of(const NamedRow& row) const {
  const std::int64_t tid = row.has("tid") ? row.number("tid") : row.number("thread");
  const auto found = to_.threads.find({row.number("session"), row.number("pid"), tid});
  return found != to_.threads.end() ? table::Value(found->second) : table::Value();
}

Result<std::int64_t> RocpdMarks::track(const table::Value& process, const table::Value& thread,
                                       const std::string& name) {
  std::int64_t& id = known_[{process, thread, name}];
  if (id != 0) return id;
  auto text = to_.file.string_id(name);
  if (!text) return text;
  const std::array<table::Value, 5> cells{++last_track_, std::int64_t{1}, process, thread, *text};
  if (auto done = tracks_->add(cells); !done) return tl::unexpected(done.error());
  return id = last_track_;
}

Result<void> RocpdMarks::add_region(const NamedRow& row, std::int64_t thread, const MarkName& name,
                                    std::int64_t event) {
  const std::int64_t session = row.number("session"), start = to_.at(session, row.number("start"));
  const std::int64_t end = row.has("end") ? to_.at(session, row.number("end")) : to_.end();
  auto text = to_.file.string_id(name.name);
  if (!text) return tl::unexpected(text.error());
  const std::array<table::Value, 7> cells{std::int64_t{1},      process_of(row), thread, start,
                                          std::max(start, end), *text,           event};
  return regions_->add(cells);
}

Result<void> RocpdMarks::add_sample(const NamedRow& row, const table::Value& thread, const MarkName& name,
                                    std::int64_t event) {
  const bool is_marker = row.raw("category") == "range";
  auto on = track(process_of(row), thread, is_marker ? name.name : row.raw("lane"));
  if (!on) return tl::unexpected(on.error());
  const std::array<table::Value, 3> cells{*on, to_.at(row.number("session"), row.number("start")), event};
  return samples_->add(cells);
}

Result<void> RocpdMarks::add(const NamedRow& row) {
  const MarkName name = mark_name(row);
  auto event = to_.file.add_event({.category = name.category, .extdata = message_of(row)});
  if (!event) return tl::unexpected(event.error());
  const table::Value thread = thread_of(row);
  const auto* id = std::get_if<std::int64_t>(&thread);
  if (!row.is("instant") && id && !table::is_null(process_of(row))) return add_region(row, *id, name, *event);
  return add_sample(row, thread, name, *event);
}

Result<void> RocpdMarks::run() {
  if (auto done = prepare(); !done) return done;
  for (const MarkPart& part : mark_parts()) {
    if (!part.in_kineto) continue;  // the work itself is there
    const std::string sql = filtered_page(schema::page_sql(part.page), part.has_slices);
    if (auto done = for_each_row(to_.source, sql, [&](const NamedRow& row) { return add(row); }); !done) return done;
  }
  return {};
}

}  // namespace

Result<void> write_rocpd_marks(RocpdExport& to) { return RocpdMarks(to).run(); }

}  // namespace fade::query
