// The busy share of each device over time, from work of GPUs with times (fade-run --gpu-times).
#include <fmt/format.h>

#include <algorithm>

#include "cli/query/html_data.hpp"

namespace fade::query::html {
namespace {

constexpr std::int64_t kWholeSecond = 1'000'000'000, kMostWorks = 300'000, kBusyColumns = 300;
constexpr std::size_t kMostDevices = 16;

// The time without counting a moment twice, in columns of one width. Works come in order of start.
class BusyColumns {
 public:
  explicit BusyColumns(std::int64_t width) : width_(width) {}
  void add(std::int64_t start, std::int64_t end) {
    for (start = std::max(start, until_); start < end;) {
      const std::int64_t part = start / width_, next = std::min(end, (part + 1) * width_);
      if (columns_.empty() || columns_.back().first != part) columns_.emplace_back(part, 0);
      columns_.back().second += next - start;
      start = until_ = next;
    }
  }
  Json points() const {
    Json out = Json::array();
    for (const auto& [part, busy] : columns_) out.push_back({part * width_, percent(busy)});
    return out;
  }
  double percent(std::int64_t busy) const {
    return std::min(100.0, 100.0 * static_cast<double>(busy) / static_cast<double>(width_));
  }

 private:
  std::int64_t width_, until_ = 0;
  std::vector<std::pair<std::int64_t, std::int64_t>> columns_;
};

struct DeviceOfProcess {
  std::int64_t pid, device;
  bool operator==(const DeviceOfProcess&) const = default;
};
DeviceOfProcess device_of(const NamedRow& row) { return {row.number("pid"), row.number("device")}; }

Json track_json(DeviceOfProcess of, std::int64_t width, Json points) {
  return {{"device", of.device}, {"pid", of.pid}, {"width", width}, {"points", std::move(points)}};
}

Json tracks_of_works(const NamedRows& rows, std::int64_t width) {
  Json out = Json::array();
  for (std::size_t i = 0; i < rows.size() && out.size() < kMostDevices;) {
    const DeviceOfProcess of = device_of(rows[i]);
    BusyColumns columns(width);
    for (; i < rows.size() && device_of(rows[i]) == of; ++i)
      columns.add(rows[i].number("start"), rows[i].number("end"));
    out.push_back(track_json(of, width, columns.points()));
  }
  return out;
}

Json tracks_of_seconds(const NamedRows& rows, std::int64_t width) {
  Json out = Json::array();
  const BusyColumns columns(width);
  for (std::size_t i = 0; i < rows.size() && out.size() < kMostDevices;) {
    const DeviceOfProcess of = device_of(rows[i]);
    Json points = Json::array();
    for (; i < rows.size() && device_of(rows[i]) == of; ++i)
      points.push_back({rows[i].number("part") * width, columns.percent(rows[i].number("busy"))});
    out.push_back(track_json(of, width, std::move(points)));
  }
  return out;
}

}  // namespace

// A short recording of few works has finer columns than the sums, if the rows of all works are there.
Json busy_tracks(const Source& source, std::int64_t until) {
  const auto counts = source.rows("html_gpu_counts");
  const std::int64_t works = counts && !counts->empty() ? counts->front().number("works") : 0;
  if (works == 0) return Json::array();
  if (until < kBusyColumns * kWholeSecond && works <= kMostWorks) {
    const auto rows = source.rows("html_gpu_work");
    if (rows && static_cast<std::int64_t>(rows->size()) >= works)
      return tracks_of_works(*rows, until / kBusyColumns + 1);
  }
  const std::int64_t width = (until / 1200 / kWholeSecond + 1) * kWholeSecond;
  const auto rows = source.rows("html_gpu_busy", {{":width", width}});
  return rows ? tracks_of_seconds(*rows, width) : Json::array();
}

}  // namespace fade::query::html
