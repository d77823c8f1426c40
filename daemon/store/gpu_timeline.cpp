#include "store/gpu_timeline.hpp"

#include <algorithm>

namespace fade::store {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kLongestWork = 3'600 * kSecond;  // that is divided by seconds
constexpr std::size_t kMostCandidates = 400;            // for the longest idle times

template <class Idle>
void keep_longest(std::vector<Idle>& all, std::size_t n) {
  if (all.size() <= n) return;
  std::nth_element(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(n), all.end(),
                   [](const Idle& a, const Idle& b) { return a.ns > b.ns; });
  all.resize(n);
}

}  // namespace

GpuTimeline::GpuTimeline(sqlite::Db& db, Failure& failure)
    : span_(db, failure, "INSERT OR REPLACE INTO gpu_span_ VALUES (?,?,?,?,?,?,?,?,?,?)"),
      second_(db, failure,
              "INSERT INTO gpu_busy_ VALUES (?1,?2,?3,?4,?5,?6) ON CONFLICT DO UPDATE SET busy = busy + excluded.busy, "
              "kernels = kernels + excluded.kernels, copies = copies + excluded.copies"),
      gap_(db, failure, "INSERT OR REPLACE INTO gpu_gap_ VALUES (?,?,?,?,?,?)"),
      clear_(db, failure, "DELETE FROM gpu_idle_ WHERE process = ? AND device = ?"),
      idle_(db, failure, "INSERT OR REPLACE INTO gpu_idle_ VALUES (?,?,?,?,?,?,?,?,?)") {}

std::string_view GpuTimeline::word_for(Cause cause) {
  constexpr std::string_view kWords[] = {"unknown", "queued", "launch", "sync", "copy", "host"};
  return kWords[static_cast<std::size_t>(cause)];
}

std::int64_t GpuTimeline::add(const Work& work) {
  const Key key{work.process, work.device};
  Device& device = devices_[key];
  device.changed = true;
  device.first = device.has_works ? std::min(device.first, work.start) : work.start;
  device.last = device.has_works ? std::max(device.last, work.end) : work.end;
  device.has_works = true;
  if (work.is_kernel) ++device.kernels, device.of_kernels.add(work.end - work.start);
  if (work.end <= device.horizon) {
    ++device.late;
    return 0;
  }
  cover(key, device, work.is_copy ? kCopies : kKernels, work);
  const std::int64_t newly = cover(key, device, kAll, work);
  busy_ns_ += newly;
  for (const GpuSpans& spans : device.spans)
    if (spans.all().size() > kMostSpans) forget(key, device, spans.middle());
  return newly;
}

void GpuTimeline::waited(ThreadRow thread, const GpuWaits::Wait& wait) {
  waits_.add(thread, wait);
  if (waits_.is_full())
    waits_.forget([&](ThreadRow other, const GpuWaits::Wait& old) { return is_explaining(other, old); });
}

// An idle time that is not final yet begins in that wait, and the thread put the next work to run, if there is one.
bool GpuTimeline::is_explaining(ThreadRow thread, const GpuWaits::Wait& wait) const {
  return std::ranges::any_of(devices_, [&](const auto& device) {
    return device.second.spans[kAll].has_end_within(wait.entry, wait.exit, [&](const GpuSpans::Span* next) {
      return next == nullptr || next->first.thread == thread;
    });
  });
}

std::int64_t GpuTimeline::cover(const Key& key, Device& device, Part part, const Work& work) {
  std::int64_t out = 0;
  device.spans[part].add(std::max(work.start, device.horizon), work.end, work.edge,
                         [&](std::int64_t from, std::int64_t to) {
                           out += to - from;
                           if (has_timeline_) add_seconds(key, part, from, to);
                         });
  device.ns[part] += out;
  return out;
}

void GpuTimeline::add_seconds(const Key& key, Part part, std::int64_t from, std::int64_t to) {
  to = std::min(to, from + kLongestWork);
  while (from < to) {
    const std::int64_t sec = from / kSecond, until = std::min(to, (sec + 1) * kSecond);
    seconds_[{key, sec}][part] += until - from;
    from = until;
  }
}

void GpuTimeline::forget(const Key& key, Device& device, std::int64_t until) {
  device.horizon = std::max(device.horizon, until);
  device.spans[kAll].forget(device.horizon, [&](const auto& before, const auto& after) {
    take(device.ended, idle_between(key, before, after));
  });
  for (const Part part : {kKernels, kCopies})
    device.spans[part].forget(device.horizon, [](const auto&, const auto&) {});
}

GpuTimeline::Idle GpuTimeline::idle_between(const Key& key, const GpuSpans::Map::value_type& before,
                                            const GpuSpans::Map::value_type& after) const {
  const GpuEdge& next = after.second.first;
  const std::int64_t begin = before.second.end;
  const GpuWaits::Wait* wait = waits_.at(next.thread, begin);
  return {.start = begin,
          .ns = after.first - begin,
          .cause = cause_of(begin, key.device, next, wait),
          .asked = next.is_estimate ? 0 : next.at,
          .before = before.second.last.call,
          .after = next.call,
          .wait = wait ? wait->call : CallRow(0)};
}

// A launch follows another back to back if the host needed less time between them than for the launch itself. One that
// was open when the device was done is as fast as the host is.
GpuTimeline::Cause GpuTimeline::cause_of(std::int64_t begin, DeviceRow device, const GpuEdge& after,
                                         const GpuWaits::Wait* wait) const {
  if (after.at == 0) return Cause::Unknown;
  if (after.at <= begin) return Cause::Queued;
  if (after.call == 0 || after.entry == 0) return Cause::Unknown;
  if (wait) return cause_of(device, *wait);
  if (!waits_.is_known(after.thread, begin)) return Cause::Unknown;
  const bool follows = after.previous != 0 && after.entry - after.previous < after.exit - after.entry;
  return after.entry <= begin || follows ? Cause::Launch : Cause::Host;
}

// A wait for another device says nothing about this one.
GpuTimeline::Cause GpuTimeline::cause_of(DeviceRow device, const GpuWaits::Wait& wait) {
  if (wait.device != 0 && device != 0 && wait.device != device) return Cause::Unknown;
  return wait.is_copy ? Cause::Copy : Cause::Sync;
}

void GpuTimeline::take(Ended& ended, const Idle& idle) {
  Gaps& gaps = ended.gaps[static_cast<std::size_t>(idle.cause)];
  ++gaps.n;
  gaps.ns += idle.ns;
  gaps.longest = std::max(gaps.longest, idle.ns);
  ended.longest.push_back(idle);
  if (ended.longest.size() >= 2 * kMostCandidates) keep_longest(ended.longest, kMostCandidates);
}

// The sums stay: the process may run another program.
void GpuTimeline::end_process(ProcessRow process) {
  for (auto& [key, device] : devices_)
    if (key.process == process) forget(key, device, device.last);
}

void GpuTimeline::write(const Key& key, const Device& device) {
  Ended now = device.ended;
  const GpuSpans::Map& spans = device.spans[kAll].all();
  for (auto span = spans.begin(); span != spans.end() && std::next(span) != spans.end(); ++span)
    take(now, idle_between(key, *span, *std::next(span)));
  keep_longest(now.longest, kMostIdle);
  span_(key.process, key.device, device.first, device.last, device.ns[kAll], device.ns[kKernels], device.ns[kCopies],
        device.kernels, static_cast<std::int64_t>(device.of_kernels.quantile(0.5)), device.late);
  for (std::size_t i = 0; i < kCauses; ++i)
    if (const Gaps& gaps = now.gaps[i]; gaps.n > 0 || device.ended.gaps[i].n > 0)
      gap_(key.process, key.device, word_for(static_cast<Cause>(i)), gaps.n, gaps.ns, gaps.longest);
  clear_(key.process, key.device);
  for (const Idle& idle : now.longest)
    idle_(key.process, key.device, idle.start, idle.ns, word_for(idle.cause), unless(idle.asked, 0),
          unless(idle.before.value(), 0), unless(idle.after.value(), 0), unless(idle.wait.value(), 0));
}

void GpuTimeline::flush() {
  for (auto& [key, device] : devices_) {
    if (device.changed) write(key, device);
    device.changed = false;
  }
  for (const auto& [key, ns] : seconds_)
    second_(key.device.process, key.device.device, key.sec, ns[kAll], ns[kKernels], ns[kCopies]);
  seconds_.clear();
}

}  // namespace fade::store
