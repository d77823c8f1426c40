#include "cli/table/human.hpp"

#include <fmt/format.h>
#include <time.h>

#include <string_view>

namespace fade::table {

std::string human_duration(std::int64_t ns, Units units, bool utf8) {
  if (units == Units::Auto) return fade::human_duration(ns, utf8);
  if (units == Units::Ns) return human_count(ns) + " ns";
  const std::string_view word = utf8 && units == Units::Us ? "µs" : units_word(units);
  return fmt::format("{:.3f} {}", static_cast<double>(ns) * units_per_ns(units), word);
}

std::string human_time(std::int64_t ns, Units units) {
  if (units == Units::Auto || units == Units::S) return fmt::format("{:.6f} s", static_cast<double>(ns) * 1e-9);
  if (units == Units::Ns) return human_count(ns) + " ns";
  return fmt::format("{:.3f} {}", static_cast<double>(ns) * units_per_ns(units), units_word(units));
}

std::string human_counted(std::int64_t n, std::string_view one, std::string_view several) {
  if (n == 1) return fmt::format("1 {}", one);
  return several.empty() ? fmt::format("{} {}s", human_count(n), one) : fmt::format("{} {}", human_count(n), several);
}

std::string short_count(double n) {
  constexpr std::string_view kLetters = " kMGTPE";
  std::size_t i = 0;
  for (; n >= 999.5 && i + 1 < kLetters.size(); ++i) n /= 1000;
  return i == 0 ? fmt::format("{:.0f}", n) : fmt::format("{:.{}f}{}", n, n < 9.95 ? 1 : 0, kLetters[i]);
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
