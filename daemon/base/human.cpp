#include "base/human.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <string_view>

namespace fade {
namespace {

struct Scale {
  double size;
  std::string_view name;
};
constexpr std::array<Scale, 4> kTimes{{{1, "ns"}, {1e3, "us"}, {1e6, "ms"}, {1e9, "s"}}};
constexpr std::array<Scale, 7> kSizes{
    {{1, "B"}, {0x1p10, "KiB"}, {0x1p20, "MiB"}, {0x1p30, "GiB"}, {0x1p40, "TiB"}, {0x1p50, "PiB"}, {0x1p60, "EiB"}}};

// Three digits that count: 1.23, 12.3, 123.
std::string three_digits(double x) {
  const double a = std::fabs(x);
  return fmt::format("{:.{}f}", x, a < 9.995 ? 2 : a < 99.95 ? 1 : 0);
}

template <std::size_t N>
std::string scaled(double x, const std::array<Scale, N>& scales, double step_up) {
  std::size_t i = 0;
  while (i + 1 < N && std::fabs(x) >= scales[i + 1].size * step_up) ++i;
  if (i == 0) return fmt::format("{:.0f} {}", x, scales[0].name);
  return three_digits(x / scales[i].size) + ' ' + std::string(scales[i].name);
}

// "2 min 21 s", "3 h 05 min". Minutes begin at two, hours at two: "90.0 s" says more than "1 min 30 s".
std::string minutes(std::int64_t ns) {
  const char* sign = ns < 0 ? "-" : "";
  const std::int64_t s = (std::llabs(ns) + 500'000'000) / 1'000'000'000;
  if (s < 7200) return fmt::format("{}{} min {:02} s", sign, s / 60, s % 60);
  return fmt::format("{}{} h {:02} min", sign, (s + 30) / 3600, (s + 30) / 60 % 60);
}

}  // namespace

std::string human_bytes(std::int64_t bytes) { return scaled(static_cast<double>(bytes), kSizes, 0.9765625); }

std::string human_count(std::int64_t n) {
  const std::string digits = std::to_string(n);
  const std::size_t sign = n < 0 ? 1 : 0;
  std::string out;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i > sign && (digits.size() - i) % 3 == 0) out += ',';
    out += digits[i];
  }
  return out;
}

std::string human_duration(std::int64_t ns, bool utf8) {
  const double x = static_cast<double>(ns);
  std::string text = std::fabs(x) < 119.95e9 ? scaled(x, kTimes, 0.9995) : minutes(ns);
  const std::size_t micro = text.find(" us");
  if (utf8 && micro != std::string::npos) text.replace(micro, 3, " µs");
  return text;
}

std::string human_ratio(double x) { return std::fabs(x) < 999.5 ? three_digits(x) : human_count(std::llround(x)); }

}  // namespace fade
