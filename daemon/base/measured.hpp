// A figure of many samples.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

namespace fade {

// In ns. Four of five samples lie within median +- spread.
struct Measured {
  std::int64_t median = 0, spread = 0;

  // Sorts the samples; there is at least one.
  static Measured of(std::vector<std::int64_t>& samples) {
    std::ranges::sort(samples);
    const auto at = [&](std::size_t tenths) { return samples[samples.size() * tenths / 10]; };
    return {at(5), (at(9) - at(1)) / 2};
  }
};

}  // namespace fade
