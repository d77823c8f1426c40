// The slices of each track that have begun and not ended, for a format that has a packet for each begin and each end.
// Slices of a track nest: the end of an inner slice is not after the end of the slice around it.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <unordered_map>
#include <vector>

#include "base/result.hpp"

namespace fade::timeline {

class Nesting {
 public:
  using End = std::function<Result<void>(std::uint64_t track, std::int64_t at)>;
  explicit Nesting(End end) : end_(std::move(end)) {}

  // Ends the slices of the track that were over at `start`; then the new one is open. Returns its end, which is cut
  // where the slice around it ends; nullopt: it does not end.
  Result<std::optional<std::int64_t>> open(std::uint64_t track, std::int64_t start, std::optional<std::int64_t> end);
  // Ends all slices that have an end.
  Result<void> finish();

 private:
  using Ends = std::vector<std::optional<std::int64_t>>;  // of open slices, the outermost first
  Result<void> end_until(std::uint64_t track, Ends& ends, std::int64_t time);

  End end_;
  std::unordered_map<std::uint64_t, Ends> open_;
};

}  // namespace fade::timeline
