// Parts of the timeline: single calls if there are few enough, else numbers of calls in columns.
#include <fmt/format.h>

#include <algorithm>

#include "cli/query/serve_data.hpp"
#include "schema/schema.hpp"

namespace fade::query::live {
namespace {

constexpr std::int64_t kMostRows = 50'000, kSecond = 1'000'000'000, kColumns = 300;
constexpr std::int64_t kFineness = 64;  // parts of a column
constexpr std::size_t kMostLanes = 48;
constexpr std::int64_t kLongestFine = 120 * kSecond;  // longer windows have the rollups' seconds
constexpr std::int64_t kFewestPixels = 100, kMostPixels = 4000;

Window window_of(const serve::Request& request) {
  Window out;
  out.from = std::clamp<std::int64_t>(request.number("from").value_or(0), 0, std::int64_t{1} << 60);
  out.to = std::clamp<std::int64_t>(request.number("to").value_or(0), out.from + 1, (std::int64_t{1} << 60) + 1);
  out.width = std::clamp(request.number("width").value_or(1000), kFewestPixels, kMostPixels);
  return out;
}

Json items_json(const Lane& lane, const std::map<std::int64_t, std::size_t>& names) {
  Json out = Json::array();
  for (const Item& i : lane.items())
    out.push_back({i.id, i.start, i.end - i.start, names.at(i.name), i.depth, i.n, i.errors});
  return out;
}

std::string thread_about(const NamedRow& row) {
  return fmt::format("{}: thread {} of process {}", row.has("name") ? html::shown(row, "name") : "unnamed",
                     row.number("tid"), row.number("pid"));
}

std::string stream_about(const NamedRow& row) {
  const bool known = row.has("device") && row.number("device") >= 0;
  return fmt::format("launches on the {} of process {}{}", row.raw("stream_name"), row.number("pid"),
                     known ? fmt::format(", device {}", row.number("device")) : "");
}

// The next column has about as many calls as the one before, `step`.
Result<std::int64_t> end_of_column(IdSearch& search, std::int64_t end, Ids within, std::int64_t step) {
  const std::int64_t inexact = step / kFineness;
  const Ids near{within.first, std::min(within.last, within.first + 2 * step + 64)};
  auto found = search.first_at(end, near, inexact);
  const bool further = found && *found + inexact > near.last && near.last < within.last;
  return further ? search.first_at(end, {*found, within.last}, inexact) : found;
}

Json frame_of(Window window, bool single) {
  return {{"from", window.from}, {"to", window.to}, {"single", single}, {"lanes", Json::array()}};
}

}  // namespace

Result<void> CallRanges::read_names(const html::Source& source) {
  const auto threads = source.rows("serve_threads"), names = source.rows("serve_names"),
             failures = source.rows("serve_failures"), launches = source.rows("serve_launches");
  for (const auto* rows : {&threads, &names, &failures, &launches})
    if (!*rows) return tl::unexpected(rows->error());
  for (const NamedRow& row : *threads)
    lane_names_[row.number("id")] = {fmt::format("{} {}", row.number("tid"), html::shown(row, "name")),
                                     thread_about(row)};
  for (const NamedRow& row : *names) functions_[row.number("id")] = html::shown(row, "name");
  for (const NamedRow& row : *failures) results_[{row.number("fn"), row.number("code")}] = row.is("failed");
  for (const NamedRow& row : *launches) {
    launches_[row.number("id")] = {row.number("stream"), html::shown(row, "name")};
    if (row.is("stream")) lane_names_[-row.number("stream")] = {row.raw("stream_name"), stream_about(row)};
  }
  return {};
}

// New threads, functions and results come while a recording goes on.
bool CallRanges::knows(const std::vector<CallRow>& rows) const {
  return std::ranges::all_of(rows, [&](const CallRow& row) {
    return lane_names_.contains(row.thread) && functions_.contains(row.function) &&
           (row.result == 0 || results_.contains({row.function, row.result})) &&
           (row.launch == 0 || launches_.contains(row.launch));
  });
}

std::string CallRanges::name_of(std::int64_t name) const {
  if (name >= 0) {
    const auto found = functions_.find(name);
    return found == functions_.end() ? "?" : found->second;
  }
  const auto found = launches_.find(-name);
  return found == launches_.end() ? "?" : found->second.name;
}

Json CallRanges::lane_json(std::int64_t id, const Lane& lane, const std::map<std::int64_t, std::size_t>& names) const {
  const auto known = lane_names_.find(id);
  const LaneName name = known == lane_names_.end() ? LaneName{"?", ""} : known->second;
  return {{"name", name.name},     {"about", name.about},   {"stream", id < 0},
          {"depth", lane.depth()}, {"calls", lane.calls()}, {"items", items_json(lane, names)}};
}

// Threads before streams.
Json CallRanges::lanes_json(const Lanes& lanes) const {
  std::map<std::int64_t, std::size_t> numbers;
  Json names = Json::array(), out = Json::array();
  for (const auto& [id, lane] : lanes.lanes())
    for (const Item& item : lane.items())
      if (numbers.emplace(item.name, numbers.size()).second) names.push_back(name_of(item.name));
  for (const bool threads : {true, false})
    for (const auto& [id, lane] : lanes.lanes())
      if ((id >= 0) == threads) out.push_back(lane_json(id, lane, numbers));
  return {{"names", names}, {"lanes", out}};
}

Result<Json> CallRanges::single_calls(const html::Source& source, Window window, Ids ids, Ids found) {
  const auto rows = calls_in(recording_, window, ids, found.first, found.last + 1);
  if (!rows) return tl::unexpected(rows.error());
  if (!knows(*rows))
    if (auto read = read_names(source); !read) return tl::unexpected(read.error());
  Lanes lanes(window);
  std::int64_t calls = 0;
  for (const CallRow& row : *rows) {
    const auto result = row.result == 0 ? results_.end() : results_.find({row.function, row.result});
    const bool failed = result != results_.end() && result->second;
    lanes.add(row.thread, {row.id, row.start, row.end.value_or(window.to), row.function, failed});
    calls += row.start >= window.from;
    const auto way = row.launch == 0 ? launches_.end() : launches_.find(row.launch);
    if (way != launches_.end() && way->second.stream != 0)
      lanes.add(-way->second.stream, {row.id, row.start, row.end.value_or(row.start), -row.launch, failed});
  }
  Json out = frame_of(window, true);
  out["left_out"] = lanes.finish(kMostLanes);
  out["calls"] = calls;
  out.update(lanes_json(lanes));
  return out;
}

// The number of calls between two moments is the difference of their ids. A column is exact to 1.6 % of the one before,
// and all of them together are exact.
Result<Json> CallRanges::columns(IdSearch& search, Window window, Ids found) const {
  Json out = frame_of(window, false), points = Json::array();
  const std::int64_t width = (window.to - window.from) / kColumns + 1;
  std::int64_t before = found.first, step = kMostRows / kColumns;
  for (std::int64_t at = window.from; at < window.to; at += width) {
    auto next = at + width < window.to ? end_of_column(search, at + width, {before, found.last}, step)
                                       : Result<std::int64_t>(found.last + 1);
    if (!next) return tl::unexpected(next.error());
    step = *next - before;
    if (step > 0) points.push_back({at, step, 0});
    before = *next;
  }
  out["width"] = width;
  out["calls"] = found.last + 1 - found.first;
  out["lanes"].push_back({{"name", "all threads"}, {"columns", points}});
  return out;
}

Result<Json> CallRanges::seconds(const html::Source& source, Window window) const {
  const std::int64_t width = ((window.to - window.from) / kColumns / kSecond + 1) * kSecond;
  const auto rows = source.rows("serve_seconds", {{":from", window.from}, {":to", window.to}, {":width", width}});
  if (!rows) return tl::unexpected(rows.error());
  Json out = frame_of(window, false);
  std::int64_t calls = 0, pid = -1;
  for (const NamedRow& row : *rows) {
    if (row.number("pid") != pid) {
      pid = row.number("pid");
      out["lanes"].push_back({{"name", fmt::format("process {}", pid)}, {"columns", Json::array()}});
    }
    out["lanes"].back()["columns"].push_back({row.number("part") * width, row.number("calls"), row.number("errors")});
    calls += row.number("calls");
  }
  out["left_out"] = out["lanes"].size() - std::min(out["lanes"].size(), kMostLanes);
  while (out["lanes"].size() > kMostLanes) out["lanes"].erase(kMostLanes);
  out["width"] = width;
  out["calls"] = calls;
  return out;
}

Result<Json> CallRanges::range(const html::Source& source, Window window) {
  const auto ids = ids_of(recording_, source.session);
  if (!ids) return tl::unexpected(ids.error());
  auto search = IdSearch::over(recording_, "serve_from", *ids);
  if (!search) return tl::unexpected(search.error());
  const auto first = search->first_at(window.from);
  if (!first) return tl::unexpected(first.error());
  const auto behind = search->first_at(window.to);
  if (!behind) return tl::unexpected(behind.error());
  const Ids found{*first, *behind - 1};
  if (found.last - found.first < kMostRows) return single_calls(source, window, *ids, found);
  return window.to - window.from <= kLongestFine ? columns(*search, window, found) : seconds(source, window);
}

serve::Answer CallRanges::answer(const serve::Request& request, const serve::Cancelled& cancelled) {
  recording_.database.stop_with(&cancelled);
  const auto source = source_of(context_, recording_);
  auto made = source ? range(*source, window_of(request)) : tl::unexpected(source.error());
  const auto work = made ? work_.range(*source, window_of(request)) : Result<Json>();
  recording_.database.stop_with(nullptr);
  if (!made || !work) return error_answer(!made ? made.error() : work.error());
  (*made)["work"] = *work;
  return json_answer(*made);
}

}  // namespace fade::query::live
