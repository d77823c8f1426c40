#include "proc/sched_times.hpp"

#include <unistd.h>

#include <charconv>
#include <system_error>

namespace fade {
namespace {

// Reads a number and the character behind it.
template <typename Number>
bool take(const char*& at, const char* end, Number& into) {
  const auto [next, error] = std::from_chars(at, end, into);
  at = next + (next != end);
  return error == std::errc();
}

}  // namespace

std::optional<SchedTimes> SchedTimes::read(const Fd& schedstat) {
  char text[128];
  const ssize_t n = schedstat ? ::pread(schedstat.get(), text, sizeof text, 0) : -1;
  if (n <= 0) return std::nullopt;
  SchedTimes times;
  const char *at = text, *const end = text + n;
  if (!take(at, end, times.ran_ns) || !take(at, end, times.waited_ns) || !take(at, end, times.turns))
    return std::nullopt;
  return times;
}

}  // namespace fade
