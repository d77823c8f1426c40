#include "cli/query/samples.hpp"

#include <cmath>

#include "cli/table/student.hpp"

namespace fade::query {
namespace {

// The square of the standard error of the mean.
double squared_error(std::span<const double> values) {
  const double middle = mean(values), n = static_cast<double>(values.size());
  double squares = 0;
  for (const double value : values) squares += (value - middle) * (value - middle);
  return squares / (n - 1) / n;
}

}  // namespace

double mean(std::span<const double> values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return values.empty() ? 0 : sum / static_cast<double>(values.size());
}

Noise noise_of(std::span<const double> before, std::span<const double> after) {
  if (before.size() < kFewestRuns || after.size() < kFewestRuns) return Noise::Unknown;
  const double difference = std::fabs(mean(after) - mean(before));
  const double b = squared_error(before), a = squared_error(after);
  if (b + a <= 0) return difference > 0 ? Noise::Beyond : Noise::Within;
  const double degrees =
      (b + a) * (b + a) /
      (b * b / static_cast<double>(before.size() - 1) + a * a / static_cast<double>(after.size() - 1));
  const double margin = table::student_975(static_cast<std::size_t>(degrees)) * std::sqrt(b + a);
  return difference > margin ? Noise::Beyond : Noise::Within;
}

}  // namespace fade::query
