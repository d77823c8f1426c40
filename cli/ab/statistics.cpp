#include "cli/ab/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "cli/table/student.hpp"

namespace fade::cli::ab {
namespace {

Verdict verdict_on(const Comparison& c) {
  if (c.pairs < kFewestPairs) return Verdict::TooFewPairs;
  if (std::fabs(c.difference) <= c.margin) return Verdict::WithinNoise;
  return c.difference < 0 ? Verdict::Less : Verdict::More;
}

}  // namespace

Comparison compare(std::span<const Pair> pairs) {
  Comparison c{.pairs = pairs.size()};
  if (pairs.empty()) return c;
  const auto n = static_cast<double>(pairs.size());
  for (const Pair& p : pairs) {
    c.without += p.without / n;
    c.with += p.with / n;
    c.difference += (p.with - p.without) / n;
  }
  double squares = 0;
  for (const Pair& p : pairs) squares += std::pow(p.with - p.without - c.difference, 2);
  c.margin = pairs.size() < 2 ? std::numeric_limits<double>::infinity()
                              : table::student_975(pairs.size() - 1) * std::sqrt(squares / (n - 1) / n);
  c.verdict = verdict_on(c);
  return c;
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::ranges::sort(values);
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

}  // namespace fade::cli::ab
