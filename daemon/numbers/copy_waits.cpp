#include "numbers/copy_waits.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace fade::numbers {
namespace {
constexpr std::size_t kMostNames = 65536;  // events or streams of a program that are kept apart
constexpr std::size_t kMostPoints = 64;    // streams that one wait covers
}  // namespace

template <class IsDone>
std::vector<CopyWaits::Copy> CopyWaits::take(IsDone&& is_done) {
  const auto waiting = std::stable_partition(copies_.begin(), copies_.end(), std::forward<IsDone>(is_done));
  std::vector<Copy> out(std::make_move_iterator(copies_.begin()), std::make_move_iterator(waiting));
  copies_.erase(copies_.begin(), waiting);
  return out;
}

std::vector<CopyWaits::Copy> CopyWaits::enqueued(Copy copy) {
  const auto overlaps = [&](const Copy& earlier) {
    return earlier.seen.host < copy.seen.host + copy.seen.bytes &&
           copy.seen.host < earlier.seen.host + earlier.seen.bytes;
  };
  std::vector<Copy> out = take(overlaps);
  copy.order = ++last_;
  if (copies_.size() >= kMost) out.push_back(std::move(copy));
  else copies_.push_back(std::move(copy));
  return out;
}

void CopyWaits::stream_created(std::uint64_t stream, bool is_blocking) {
  joined_.erase(stream);
  if (!is_blocking) blocking_.erase(stream);
  else if (blocking_.size() < kMostNames) blocking_.insert(stream);
}

void CopyWaits::add(Points& to, Point point) {
  const auto known = std::find_if(to.begin(), to.end(), [&](const Point& p) { return p.stream == point.stream; });
  if (known != to.end()) known->order = std::max(known->order, point.order);
  else if (to.size() < kMostPoints) to.push_back(point);
}

CopyWaits::Points CopyWaits::points_of(std::uint64_t stream, std::uint64_t order) const {
  Points out;
  if (const auto joined = joined_.find(stream); joined != joined_.end()) out = joined->second;
  add(out, {stream, order});
  return out;
}

void CopyWaits::recorded(std::uint64_t event, std::uint64_t stream, std::uint64_t order) {
  if (events_.size() < kMostNames || events_.contains(event)) events_[event] = points_of(stream, order);
}

void CopyWaits::joined(std::uint64_t stream, std::uint64_t event) {
  const auto known = events_.find(event);
  if (known == events_.end() || joined_.size() >= kMostNames) return;
  for (const Point& point : known->second)
    if (point.stream != stream) add(joined_[stream], point);
}

std::vector<CopyWaits::Copy> CopyWaits::take_before(const Points& points) {
  return take([&](const Copy& copy) {
    return std::any_of(points.begin(), points.end(),
                       [&](const Point& p) { return p.stream == copy.stream && copy.order <= p.order; });
  });
}

// The null stream also waits for the blocking streams.
std::vector<CopyWaits::Copy> CopyWaits::stream_done(std::uint64_t stream, std::uint64_t order) {
  if (copies_.empty()) return {};
  Points points = points_of(stream, order);
  if (stream != kNullStream) return take_before(points);
  return take([&](const Copy& copy) {
    if (copy.order <= order && (copy.stream == kNullStream || blocking_.contains(copy.stream))) return true;
    return std::any_of(points.begin(), points.end(),
                       [&](const Point& p) { return p.stream == copy.stream && copy.order <= p.order; });
  });
}

std::vector<CopyWaits::Copy> CopyWaits::event_done(std::uint64_t event) {
  const auto known = events_.find(event);
  return known == events_.end() || copies_.empty() ? std::vector<Copy>() : take_before(known->second);
}

std::vector<CopyWaits::Copy> CopyWaits::device_done(int device, std::uint64_t order) {
  return take([&](const Copy& copy) { return copy.device == device && copy.order <= order; });
}

std::vector<CopyWaits::Copy> CopyWaits::take_all() { return std::exchange(copies_, {}); }

void CopyWaits::capture(std::uint64_t stream, bool begins) {
  if (!begins) capturing_.erase(stream);
  else if (capturing_.size() < kMostNames) capturing_.insert(stream);
}

}  // namespace fade::numbers
