// Is the difference of two groups of runs larger than the noise? Pure arithmetic.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

namespace fade::query {

// With fewer runs on a side nothing is said about noise: two runs that happen to agree are common.
inline constexpr std::size_t kFewestRuns = 3;

enum class Noise : std::uint8_t {
  Unknown,  // too few runs
  Within,   // the difference may be noise
  Beyond,   // it is larger
};

double mean(std::span<const double> values);  // 0 without values
// Welch's test at 95 % (NIST/SEMATECH e-Handbook of Statistical Methods, 1.3.5.3), with Student's t of the next smaller
// number of degrees of freedom in the table, which claims less. Equal values of all runs of both sides: Beyond if they
// differ.
Noise noise_of(std::span<const double> before, std::span<const double> after);

}  // namespace fade::query
