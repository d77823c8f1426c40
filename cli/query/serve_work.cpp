#include "cli/query/serve_work.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "schema/schema.hpp"

namespace fade::query::live {
namespace {

using html::Json;

constexpr std::int64_t kMostWorks = 50'000;
constexpr std::int64_t kWorkDisorder = 10'000;  // ids around a window: a long work ends after many that began later
constexpr std::size_t kMostWorkLanes = 48;
constexpr const char* kKindNames[] = {"kernel", "copy", "fill", "barrier"};

struct Known {
  Ids ids;  // of the session's works
  bool any() const { return ids.last >= ids.first; }
};

// The works of a session are those of its processes, and ids ascend over the sessions of a recording.
Result<Known> known_works(const html::Source& source) {
  const auto rows = source.rows("serve_work_ids");
  if (!rows) return tl::unexpected(rows.error());
  const NamedRow row = rows->empty() ? NamedRow() : rows->front();
  const Ids all{1, row.number("last_work")};
  auto search = IdSearch::over(source.recording, "serve_work_process", all);
  if (!search) return tl::unexpected(search.error());
  const auto first = search->first_at(row.number("first_process"));
  if (!first) return tl::unexpected(first.error());
  const auto behind = search->first_at(row.number("last_process") + 1);
  if (!behind) return tl::unexpected(behind.error());
  return Known{{*first, *behind - 1}};
}

// Works whose end the window has, and some around these.
Result<Ids> around(Recording& recording, Window window, Ids ids) {
  auto search = IdSearch::over(recording, "serve_work_end", ids);
  if (!search) return tl::unexpected(search.error());
  const auto first = search->first_at(window.from);
  if (!first) return tl::unexpected(first.error());
  const auto behind = search->first_at(window.to);
  if (!behind) return tl::unexpected(behind.error());
  return Ids{*first, *behind - 1};
}

}  // namespace

Result<void> GpuWork::read_names(const html::Source& source) {
  const auto kernels = source.rows("serve_kernels"), devices = source.rows("serve_devices");
  if (!kernels || !devices) return tl::unexpected(!kernels ? kernels.error() : devices.error());
  for (const NamedRow& row : *kernels) kernels_[row.number("id")] = html::shown(row, "name");
  for (const NamedRow& row : *devices) {
    if (row.has("id")) ordinals_[row.number("id")] = row.number("ordinal");
    pids_[row.number("process")] = row.number("pid");
  }
  return {};
}

std::int64_t GpuWork::lane_of(Place place) {
  const auto [found, fresh] = lanes_.try_emplace(place, static_cast<std::int64_t>(places_.size()));
  if (fresh) places_.push_back(place);
  return found->second;
}

std::string GpuWork::lane_name(Place place) const {
  const auto [process, device, queue] = place;
  const auto ordinal = ordinals_.find(device);
  const std::string name = ordinal == ordinals_.end() ? "GPU ?" : fmt::format("GPU {}", ordinal->second);
  return queue < 0 ? name + " copies" : fmt::format("{} queue {}", name, queue);
}

std::string GpuWork::name_of(std::int64_t name) const {
  if (name < 0) return kKindNames[std::min<std::int64_t>(-name - 1, 3)];
  const auto found = kernels_.find(name);
  return found == kernels_.end() ? "kernel" : found->second;
}

Result<std::vector<GpuWork::Work>> GpuWork::works_in(Recording& recording, Window window, Ids ids) {
  auto statement = recording.database.prepare(schema::page_sql("serve_work"));
  if (!statement) return tl::unexpected(statement.error());
  statement->bind(":first", ids.first);
  statement->bind(":last", ids.last);
  std::vector<Work> out;
  for (;;) {
    auto row = statement->step();
    if (!row) return tl::unexpected(row.error());
    if (!*row) break;
    const auto number = [&](int column) { return statement->is_null(column) ? -1 : statement->integer(column); };
    const std::int64_t start = number(1), end = start + number(2);
    if (start >= window.to || end <= window.from) continue;
    const std::int64_t name = number(5) >= 0 ? number(5) : -1 - number(4);
    out.push_back({number(0), start, end, name, number(8), lane_of({number(3), number(6), number(7)})});
  }
  std::ranges::sort(out, {}, [](const Work& work) { return std::pair(work.start, work.id); });
  return out;
}

// A work that stands alone leads to the call that put it to run.
Json GpuWork::lanes_json(const Lanes& lanes, const std::map<std::int64_t, std::int64_t>& calls) const {
  std::map<std::int64_t, std::size_t> numbers;
  Json names = Json::array(), out = Json::array();
  for (const auto& [place, id] : lanes_) {
    const auto lane = lanes.lanes().find(id);
    if (lane == lanes.lanes().end()) continue;
    Json items = Json::array();
    for (const Item& item : lane->second.items()) {
      const auto [number, fresh] = numbers.emplace(item.name, numbers.size());
      if (fresh) names.push_back(name_of(item.name));
      items.push_back({calls.at(item.id), item.start, item.end - item.start, number->second, item.depth, item.n, 0});
    }
    const auto pid = pids_.find(std::get<0>(place));
    out.push_back({{"name", lane_name(place)},
                   {"about", fmt::format("work of {} for process {}", lane_name(place),
                                         pid == pids_.end() ? "?" : std::to_string(pid->second))},
                   {"depth", lane->second.depth()},
                   {"items", std::move(items)}});
  }
  return {{"names", std::move(names)}, {"lanes", std::move(out)}};
}

Result<Json> GpuWork::range(const html::Source& source, Window window) {
  const auto known = known_works(source);
  if (!known) return tl::unexpected(known.error());
  if (!known->any()) return Json();
  const auto found = around(source.recording, window, known->ids);
  if (!found) return tl::unexpected(found.error());
  const std::int64_t about = found->last + 1 - found->first;
  if (about > kMostWorks) return Json{{"works", about}, {"single", false}, {"lanes", Json::array()}};
  const Ids wide{std::max(known->ids.first, found->first - kWorkDisorder),
                 std::min(known->ids.last, found->last + kWorkDisorder)};
  const auto works = works_in(source.recording, window, wide);
  if (!works) return tl::unexpected(works.error());
  const auto unknown = [&](const Work& work) {
    return (work.name >= 0 && !kernels_.contains(work.name)) || !pids_.contains(std::get<0>(places_[work.lane]));
  };
  if (std::ranges::any_of(*works, unknown))
    if (auto read = read_names(source); !read) return tl::unexpected(read.error());
  Lanes lanes(window);
  std::map<std::int64_t, std::int64_t> calls;
  for (const Work& work : *works) {
    lanes.add(work.lane, {work.id, work.start, work.end, work.name, false});
    calls[work.id] = std::max<std::int64_t>(work.call, 0);
  }
  Json out{{"works", works->size()}, {"single", true}, {"left_out", lanes.finish(kMostWorkLanes)}};
  out.update(lanes_json(lanes, calls));
  return out;
}

}  // namespace fade::query::live
