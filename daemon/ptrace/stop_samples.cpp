#include "ptrace/stop_samples.hpp"

#include <fcntl.h>

#include <algorithm>

namespace fade {

std::optional<StopSample> StopSamples::stopped(Tid tid, std::int64_t now) {
  ++since_;
  std::optional<StopSample> sample;
  if (tid == block_.tid && block_.resumed == 0) {
    block_ = {};
  } else if (tid == block_.tid) {
    block_.sample.ns += now - std::exchange(block_.resumed, 0);
    if (++block_.sample.stops == length_) sample = end();
  }
  if (block_.tid == 0 ? since_ >= kPeriod : since_ > kGivenUp) begin(tid, times(tid));
  return sample;
}

// The number of a thread that has ended may be given to another. Then the file of the old one cannot be read.
std::optional<SchedTimes> StopSamples::times(Tid tid) {
  if (tid == std::exchange(of_, tid))
    if (const auto read = SchedTimes::read(schedstat_)) return read;
  schedstat_ = Fd(::open(proc_.path(tid, "schedstat").c_str(), O_RDONLY | O_CLOEXEC));
  return SchedTimes::read(schedstat_);
}

std::optional<StopSample> StopSamples::end() {
  Block block = std::exchange(block_, {});
  const auto after = times(block.tid);
  const bool counts = after && after->turns == block.before.turns + block.sample.stops;
  length_ = counts ? std::min(2 * length_, kPeriod) : std::max<std::uint64_t>(length_ / 2, 1);
  if (since_ >= kPeriod) begin(block.tid, after);
  if (!counts) return std::nullopt;
  block.sample.ns = std::max<std::int64_t>(block.sample.ns - (after->ran_ns - block.before.ran_ns), 0);
  return block.sample;
}

void StopSamples::begin(Tid tid, const std::optional<SchedTimes>& before) {
  since_ = 0;
  block_ = before ? Block{.tid = tid, .before = *before, .sample = {}} : Block{};
}

}  // namespace fade
