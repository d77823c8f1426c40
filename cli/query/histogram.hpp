// The store's histograms of durations (call_stat_.hist): LEB128 pairs of bucket and count, two buckets for each power
// of two. Read-only side; a damaged blob reads as far as it makes sense.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace fade::query {

class Histogram {
 public:
  static constexpr std::size_t kBuckets = 128;
  static double begin_of(std::size_t bucket);  // ns

  void add(std::span<const unsigned char> blob);
  std::uint64_t count() const { return count_; }
  // Interpolated within the bucket; nullopt where nothing was counted.
  std::optional<double> percentile(double share) const;

 private:
  std::array<std::uint64_t, kBuckets> counts_{};
  std::uint64_t count_ = 0;
};

}  // namespace fade::query
