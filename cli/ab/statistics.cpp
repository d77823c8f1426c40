#include "cli/ab/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace fade::cli::ab {
namespace {

struct Quantile {
  std::size_t degrees;
  double t;
};
// NIST/SEMATECH e-Handbook of Statistical Methods, 1.3.6.7.2.
constexpr Quantile kStudent975[] = {
    {1, 12.706}, {2, 4.303},  {3, 3.182},  {4, 2.776},  {5, 2.571},  {6, 2.447},  {7, 2.365},  {8, 2.306},  {9, 2.262},
    {10, 2.228}, {11, 2.201}, {12, 2.179}, {13, 2.160}, {14, 2.145}, {15, 2.131}, {16, 2.120}, {17, 2.110}, {18, 2.101},
    {19, 2.093}, {20, 2.086}, {21, 2.080}, {22, 2.074}, {23, 2.069}, {24, 2.064}, {25, 2.060}, {26, 2.056}, {27, 2.052},
    {28, 2.048}, {29, 2.045}, {30, 2.042}, {40, 2.021}, {50, 2.009}, {60, 2.000}, {80, 1.990}, {100, 1.984}};

Verdict verdict_on(const Comparison& c) {
  if (c.pairs < kFewestPairs) return Verdict::TooFewPairs;
  if (std::fabs(c.difference) <= c.margin) return Verdict::WithinNoise;
  return c.difference < 0 ? Verdict::Less : Verdict::More;
}

}  // namespace

double student_975(std::size_t degrees_of_freedom) {
  double t = std::numeric_limits<double>::infinity();
  for (const Quantile& q : kStudent975)
    if (q.degrees <= degrees_of_freedom) t = q.t;
  return t;
}

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
                              : student_975(pairs.size() - 1) * std::sqrt(squares / (n - 1) / n);
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
