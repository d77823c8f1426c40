// Is the difference between two ways of running larger than the noise? Paired: each run without the rules has one with
// them right beside it, so that what changes slowly (temperature, other work of the machine) meets both. Pure
// arithmetic.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace fade::cli::ab {

// With fewer pairs nothing is said about a difference: two or three runs that happen to agree are common.
inline constexpr std::size_t kFewestPairs = 5;

struct Pair {
  double without = 0, with = 0;
};

enum class Verdict : std::uint8_t { TooFewPairs, WithinNoise, Less, More };  // Less: less with the rules

struct Comparison {
  std::size_t pairs = 0;
  double without = 0, with = 0;  // means
  double difference = 0;         // mean of with - without
  double margin = 0;  // the 95 % Student interval of the difference is difference +- margin; infinite for one pair
  Verdict verdict = Verdict::TooFewPairs;
};

// The rule: larger than the noise is a difference whose 95 % interval (Student's t of the paired differences) leaves
// out zero, and only with kFewestPairs or more.
Comparison compare(std::span<const Pair> pairs);

double median(std::vector<double> values);  // 0 where there are none

}  // namespace fade::cli::ab
