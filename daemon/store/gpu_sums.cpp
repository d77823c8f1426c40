#include "store/gpu_sums.hpp"

#include <algorithm>
#include <span>
#include <string_view>
#include <vector>

namespace fade::store {
namespace {

constexpr std::int64_t kNsOfSecond = 1'000'000'000;
constexpr std::int64_t kMostSeconds = 3'600;  // of one work

std::string_view word_for(GpuKind kind) {
  constexpr std::string_view kWords[] = {"kernel", "copy", "fill", "barrier"};
  return kWords[static_cast<std::size_t>(kind)];
}

}  // namespace

GpuSums::GpuSums(sqlite::Db& db, Failure& failure)
    : sum_(db, failure,
           "INSERT INTO gpu_stat_ VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12) ON CONFLICT DO UPDATE SET "
           "n = n + excluded.n, total = total + excluded.total, min = min(min, excluded.min), "
           "max = max(max, excluded.max), bytes = bytes + excluded.bytes, first_ts = min(first_ts, excluded.first_ts), "
           "last_ts = max(last_ts, excluded.last_ts), hist = hist_merge(hist, excluded.hist)"),
      second_(db, failure,
              "INSERT INTO gpu_second_ VALUES (?1,?2,?3,?4,?5,?6,?7) ON CONFLICT DO UPDATE SET "
              "n = n + excluded.n, ns = ns + excluded.ns") {}

std::size_t GpuSums::Hash::operator()(const Key& k) const {
  auto h = static_cast<std::uint64_t>(k.process.value()) * 0x9E3779B97F4A7C15u;
  h = (h ^ static_cast<std::uint64_t>(k.kernel.value())) * 0xC2B2AE3D27D4EB4Fu;
  h = (h ^ static_cast<std::uint64_t>(k.device.value())) * 0x165667B19E3779F9u;
  h = (h ^ static_cast<std::uint64_t>(k.sec)) * 0x9E3779B97F4A7C15u;
  return h ^ (h >> 29) ^ static_cast<std::uint64_t>(k.kind);
}

void GpuSums::add(Key key, std::int64_t start, std::int64_t end, std::int64_t bytes) {
  const std::int64_t ns = end - start;
  key.sec = 0;
  Sum& sum = sums_[key];
  sum.min = sum.n == 0 ? ns : std::min(sum.min, ns);
  sum.max = std::max(sum.max, ns);
  sum.first = sum.n == 0 ? start : std::min(sum.first, start);
  sum.last = sum.n == 0 ? end : std::max(sum.last, end);
  ++sum.n;
  sum.ns += ns;
  sum.bytes += bytes;
  sum.histogram.add(ns);
  if (has_timeline_) add_seconds(key, start, end);
}

// Work that crosses the end of a second belongs to both, each with its part.
void GpuSums::add_seconds(Key key, std::int64_t start, std::int64_t end) {
  key.sec = start / kNsOfSecond;
  ++seconds_[key].began;
  const std::int64_t last = std::min(key.sec + kMostSeconds, end / kNsOfSecond);
  for (; key.sec <= last; ++key.sec) {
    const std::int64_t begins = key.sec * kNsOfSecond;
    const std::int64_t ns = std::min(end, begins + kNsOfSecond) - std::max(start, begins);
    if (ns > 0) seconds_[key].ns += ns;
  }
}

void GpuSums::flush() {
  for (const auto& [k, sum] : sums_) {
    const std::vector<std::byte> histogram = sum.histogram.encode();
    sum_(k.process, word_for(k.kind), k.kernel, k.device, sum.n, sum.ns, sum.min, sum.max, sum.bytes, sum.first,
         sum.last, std::span<const std::byte>(histogram));
  }
  for (const auto& [k, second] : seconds_)
    second_(k.process, word_for(k.kind), k.kernel, k.device, k.sec, second.began, second.ns);
  sums_.clear();
  seconds_.clear();
}

}  // namespace fade::store
