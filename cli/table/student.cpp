#include "cli/table/student.hpp"

#include <limits>

namespace fade::table {
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

}  // namespace

double student_975(std::size_t degrees_of_freedom) {
  double t = std::numeric_limits<double>::infinity();
  for (const Quantile& q : kStudent975)
    if (q.degrees <= degrees_of_freedom) t = q.t;
  return t;
}

}  // namespace fade::table
