// Session time: CLOCK_BOOTTIME nanoseconds, the clock of rocprofv3, so that files can be joined.
#pragma once
#include <time.h>

#include <cstdint>

namespace fade {

inline std::int64_t clock_ns(clockid_t id) {
  timespec t{};
  ::clock_gettime(id, &t);
  return t.tv_sec * std::int64_t{1'000'000'000} + t.tv_nsec;
}
inline std::int64_t boottime_ns() { return clock_ns(CLOCK_BOOTTIME); }
inline std::int64_t realtime_ns() { return clock_ns(CLOCK_REALTIME); }

// The moment a session began, on both clocks; everything stored counts from it.
struct SessionClock {
  std::int64_t boot_ns = boottime_ns();
  std::int64_t real_ns = realtime_ns();

  std::int64_t now() const { return boottime_ns() - boot_ns; }
};

}  // namespace fade
