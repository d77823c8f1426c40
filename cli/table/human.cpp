#include "cli/table/human.hpp"

#include <fmt/format.h>
#include <time.h>

#include <array>
#include <cmath>
#include <cstdlib>

namespace fade::table {
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

std::string human_duration(std::int64_t ns, Units units, bool utf8) {
  std::string text;
  if (units == Units::Auto) {
    const double x = static_cast<double>(ns);
    text = std::fabs(x) < 119.95e9 ? scaled(x, kTimes, 0.9995) : minutes(ns);
  } else if (units == Units::Ns) {
    text = human_count(ns) + " ns";
  } else {
    text = fmt::format("{:.3f} {}", static_cast<double>(ns) * units_per_ns(units), units_word(units));
  }
  const std::size_t micro = text.find(" us");
  if (utf8 && micro != std::string::npos) text.replace(micro, 3, " µs");
  return text;
}

std::string human_time(std::int64_t ns, Units units) {
  if (units == Units::Auto || units == Units::S) return fmt::format("{:.6f} s", static_cast<double>(ns) * 1e-9);
  if (units == Units::Ns) return human_count(ns) + " ns";
  return fmt::format("{:.3f} {}", static_cast<double>(ns) * units_per_ns(units), units_word(units));
}

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

std::string wall_clock(std::int64_t epoch_ns) {
  std::int64_t seconds = epoch_ns / 1000000000, rest = epoch_ns % 1000000000;
  if (rest < 0) rest += 1000000000, --seconds;
  const time_t t = seconds;
  tm parts{};
  if (gmtime_r(&t, &parts) == nullptr) return std::to_string(epoch_ns);
  char text[40];
  strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &parts);
  return fmt::format("{}.{:09}Z", text, rest);
}

}  // namespace fade::table
