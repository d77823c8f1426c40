#include "cli/query/timeline_tracks.hpp"

#include <algorithm>
#include <limits>

namespace fade::query {
namespace {

constexpr std::size_t kMostSideBySide = 64;  // side by side; then slices are cut where they overlap

}  // namespace

Result<std::uint64_t> TimelineTracks::announce(timeline::Track track) {
  track.id = ++last_;
  if (auto done = writer_.track(track); !done) return tl::unexpected(done.error());
  return track.id;
}

Result<std::uint64_t> TimelineTracks::process(const Process& about) {
  std::uint64_t& id = processes_[{about.session, about.pid}];
  if (id != 0) return id;
  auto made = announce({.place = timeline::Place::Process,
                        .pid = about.pid,
                        .name = about.name.empty() ? "process " + std::to_string(about.pid) : about.name,
                        .command = about.command});
  return made ? id = *made : made;
}

Result<std::uint64_t> TimelineTracks::thread(std::int64_t session, std::int64_t pid, std::int64_t tid,
                                             const std::string& name) {
  std::uint64_t& id = threads_[{session, pid, tid}];
  if (id != 0) return id;
  auto parent = process({.session = session, .pid = pid});
  if (!parent) return parent;
  auto made = announce({.parent = *parent,
                        .place = timeline::Place::Thread,
                        .pid = pid,
                        .tid = tid,
                        .name = name.empty() ? "thread " + std::to_string(tid) : name});
  return made ? id = *made : made;
}

// The first row that is free at `start`, or a new one.
Result<TimelineTracks::Row*> TimelineTracks::row_of(const Lane& lane, std::int64_t start) {
  std::vector<Row>& rows = lanes_[{lane.parent, lane.name}];
  const auto free = std::find_if(rows.begin(), rows.end(), [&](const Row& row) { return row.busy_until <= start; });
  if (free != rows.end()) return &*free;
  if (rows.size() >= kMostSideBySide) return &rows.back();
  auto made = announce({.parent = lane.parent,
                        .place = lane.device >= 0 ? timeline::Place::Device : timeline::Place::Lane,
                        .name = lane.name,
                        .device = lane.device,
                        .stream = lane.stream,
                        .folds = lane.folds});
  if (!made) return tl::unexpected(made.error());
  return &rows.emplace_back(Row{*made, std::numeric_limits<std::int64_t>::min()});
}

Result<std::uint64_t> TimelineTracks::lane(const Lane& lane) {
  auto row = row_of(lane, std::numeric_limits<std::int64_t>::max());
  return row ? Result<std::uint64_t>((*row)->track) : tl::unexpected(row.error());
}

Result<std::uint64_t> TimelineTracks::lane_for(const Lane& lane, std::int64_t start, std::optional<std::int64_t> end) {
  if (lane.folds) return this->lane(lane);  // its slices nest
  auto row = row_of(lane, start);
  if (!row) return tl::unexpected(row.error());
  (*row)->busy_until = end.value_or(std::numeric_limits<std::int64_t>::max());
  return (*row)->track;
}

Result<std::uint64_t> TimelineTracks::counter(std::uint64_t parent, const std::string& name, bool is_bytes) {
  std::uint64_t& id = counters_[{parent, name}];
  if (id != 0) return id;
  auto made = announce({.parent = parent, .place = timeline::Place::Counter, .name = name, .is_bytes = is_bytes});
  return made ? id = *made : made;
}

}  // namespace fade::query
