// The number of calls by duration: 64 buckets, two to an octave, from 128 ns to nine minutes. Stored as a blob of
// LEB128 pairs (bucket, calls), with the SQL functions that work on such blobs. Knows nothing of calls.
#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "store/sqlite.hpp"

namespace fade::store {

class Histogram {
 public:
  static constexpr std::size_t kBuckets = 64;

  static std::size_t bucket_of(std::int64_t ns) {
    if (ns < (1 << kFirstOctave)) return 0;
    const auto value = static_cast<std::uint64_t>(ns);
    const int octave = static_cast<int>(std::bit_width(value)) - 1;
    const std::size_t half = (value >> (octave - 1)) & 1;
    return std::min(static_cast<std::size_t>(octave - kFirstOctave) * 2 + half, kBuckets - 1);
  }
  static std::int64_t begin_of(std::size_t bucket);  // shortest duration that belongs there

  void add(std::int64_t ns) { ++counts_[bucket_of(ns)]; }
  void add(const Histogram& other);
  std::uint64_t count(std::size_t bucket) const { return counts_[bucket]; }
  std::uint64_t total() const;
  // The duration that a part q (0..1) of all calls did not exceed, interpolated within its bucket; 0 where empty.
  double quantile(double q) const;

  std::vector<std::byte> encode() const;
  static Histogram decode(std::span<const std::byte> blob);  // malformed parts are left out

 private:
  static constexpr int kFirstOctave = 7;  // 128 ns

  std::array<std::uint64_t, kBuckets> counts_{};
};

// hist_merge(a, b): sum of two blobs, NULL counts as empty. hist_sum(blob): aggregate sum. hist_quantile(blob, q):
// nanoseconds, NULL where empty; hist_quantile(blob, q, min, max) keeps the answer within min..max.
Result<void> register_histogram_functions(sqlite::Db& db);

}  // namespace fade::store
