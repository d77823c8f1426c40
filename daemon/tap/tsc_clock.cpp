#include "tap/tsc_clock.hpp"

#include <fmt/format.h>
#include <time.h>
#include <x86intrin.h>

#include <limits>
#include <string>

namespace fade::tap {
namespace {

// The words of the first line of /proc/cpuinfo that begins with `flags`.
std::string_view flags_of(std::string_view cpuinfo) {
  const std::size_t at = cpuinfo.find("\nflags");
  if (at == cpuinfo.npos) return {};
  const std::string_view line = cpuinfo.substr(at + 1);
  return line.substr(0, line.find('\n'));
}

bool has_word(std::string_view line, std::string_view word) {
  const std::string padded = fmt::format("{} ", line);
  return padded.find(fmt::format(" {} ", word)) != padded.npos;
}

std::int64_t boottime() {
  timespec now{};
  ::clock_gettime(CLOCK_BOOTTIME, &now);
  return now.tv_sec * 1'000'000'000 + now.tv_nsec;
}

Error unusable(std::string cause) {
  return {.message = "the time stamp counter cannot be used as a clock",
          .cause = std::move(cause),
          .fix = "calls are recorded with breakpoints; nothing needs to be done"};
}

}  // namespace

Result<void> TscClock::usable(std::string_view cpuinfo, std::string_view clocksource) {
  for (const std::string_view flag : {"constant_tsc", "nonstop_tsc"})
    if (!has_word(flags_of(cpuinfo), flag))
      return tl::unexpected(unusable(fmt::format("/proc/cpuinfo does not list {}", flag)));
  clocksource = clocksource.substr(0, clocksource.find('\n'));
  if (clocksource != "tsc" && clocksource != "kvm-clock")
    return tl::unexpected(unusable(fmt::format("the kernel's clock source is {}, not tsc or kvm-clock", clocksource)));
  return {};
}

TscClock::Sample TscClock::sample() {
  Sample best;
  std::uint64_t shortest = std::numeric_limits<std::uint64_t>::max();
  for (int i = 0; i < 8; ++i) {
    const std::uint64_t before = __rdtsc();
    const std::int64_t now = boottime();
    const std::uint64_t took = __rdtsc() - before;
    if (took >= shortest) continue;
    shortest = took;
    best = {before + took / 2, now};
  }
  return best;
}

void TscClock::update(Sample now) {
  if (now.tsc <= first_.tsc) return;
  scale_ = static_cast<double>(now.boottime_ns - first_.boottime_ns) / static_cast<double>(now.tsc - first_.tsc);
  last_ = now;
}

}  // namespace fade::tap
