// A time in which another process keeps the database locked. The queue holds as much as it has room for, the program is
// held for a bounded time, and calls that find no room are counted. Reports its begin and end; writes nothing. Writer
// thread only.
#pragma once
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "base/clock.hpp"
#include "base/event_queue.hpp"
#include "base/result.hpp"

namespace fade::store {

class Outage {
 public:
  static constexpr std::chrono::seconds kProgramWaits{2};  // in one outage, once the queue is full
  static constexpr std::chrono::seconds kEndWaits{5};      // for the database, after the last call

  struct Report {
    std::int64_t at = 0, duration = 0;  // nanoseconds; `at` of the session's clock
    std::uint64_t refused = 0;          // calls that are not in the recording

    std::string text() const;
  };

  Outage(EventQueue& queue, SessionClock clock, std::string path)
      : queue_(queue), clock_(clock), path_(std::move(path)) {}

  // True for the errors that end when another process lets go.
  static bool is_lock(const Error& error);

  // An attempt that began at `since` met a lock. False: to try again is of no use.
  bool goes_on(std::int64_t since);
  // An attempt succeeded. Reports the outage that ends by it, if it cost calls or lasted long enough to be reported.
  std::optional<Report> end();

 private:
  EventQueue& queue_;
  const SessionClock clock_;
  const std::string path_;
  std::optional<std::int64_t> from_;       // of the outage that lasts
  std::optional<std::int64_t> last_call_;  // when the end of the recording was seen here
  bool said_ = false;
};

}  // namespace fade::store
