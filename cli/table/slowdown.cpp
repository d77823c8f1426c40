#include "cli/table/slowdown.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/table/human.hpp"

namespace fade::table {
namespace {

// Of the life. The cost can be a third too low on a loaded machine (BENCHMARKS.md): beyond, the rest may be nothing.
constexpr double kMostShare = 2.0 / 3;

std::string duration(std::int64_t ns, bool utf8) { return human_duration(ns, Units::Auto, utf8); }

// How many times as long the program took as without `share` of its life; empty where that is too little to say.
std::string factor(double share) {
  const double times = 1 / (1 - share);
  if (times < 1.005) return {};
  if (times < 1.995) return fmt::format("{:.0f} %", 100 * (times - 1));
  return times < 3.45 ? fmt::format("{:.1f}x", times) : fmt::format("{:.0f}x", times);
}

// From the least to the most.
std::string range(double low, double high) {
  const std::string least = factor(std::min(low, kMostShare)), most = factor(std::min(high, kMostShare));
  const char* unit = most.ends_with('%') ? " slower" : "";
  if (low >= kMostShare) return "more than 3x";
  if (high >= kMostShare)
    return least.empty() ? "up to more than 3x"
                         : fmt::format("about {}{} to more than 3x", least, least.ends_with('%') ? " slower" : "");
  if (most.empty()) return "less than 1 % slower";
  if (least.empty()) return fmt::format("up to {}{}", most, unit);
  if (least == most) return fmt::format("about {}{}", most, unit);
  const bool both = least.ends_with('%') && *unit == 0;  // only the first one is a share
  return fmt::format("about {}{} to {}{}", least, both ? " slower" : "", most, unit);
}

std::string parts(const Slowdown& c, bool utf8) {
  if (c.calls == 0 || c.calls_ns == 0) return {};
  const std::int64_t stopped = c.calls - c.tapped;
  std::string text = human_counted(stopped, "call");
  const std::int64_t callers = c.callers > 0 ? c.callers : c.threads;
  if (callers > 1) text += fmt::format(" of {} threads", human_count(callers));
  if (stopped > 0) text += " x " + duration(c.calls_ns / stopped, utf8);
  if (c.tapped > 0) text += fmt::format(" + {} without a stop", human_count(c.tapped));
  if (c.taps_ns > 0) text += " x " + duration(c.taps_ns / c.tapped, utf8);
  if (c.other_ns * 20 > c.calls_ns) text += " + " + duration(c.other_ns, utf8) + " for loading and starting";
  return text + " = ";
}

}  // namespace

std::string slowdown_text(const Slowdown& c, bool utf8) {
  const std::int64_t total = c.calls_ns + c.taps_ns + c.other_ns;
  if (total <= 0) return "nothing was stopped";
  if (c.life_ns <= 0)
    return fmt::format("unknown, for the end was not recorded: {}{}", parts(c, utf8), duration(total, utf8));
  const double life = static_cast<double>(c.life_ns), high = static_cast<double>(total) / life;
  const double low = c.threads > 1 ? static_cast<double>(c.busiest_ns) / life : high;
  const std::string sum = fmt::format("{}{} of {}", parts(c, utf8), duration(total, utf8), duration(c.life_ns, utf8));
  if (!c.is_measured) return fmt::format("unknown, fade's own part alone is {}", sum);
  return fmt::format("{}: {}", range(low, high), sum);
}

}  // namespace fade::table
