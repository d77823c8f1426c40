// The daemon's numbers as OpenMetrics text, which Prometheus reads. Knows no socket and no session, only their records.
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "service/session_record.hpp"

namespace fade::service {

// Sums that only grow while the daemon runs.
struct Counters {
  std::uint64_t calls = 0, errors = 0, launches = 0, dropped = 0;
  std::int64_t gpu_busy_ns = 0;

  void add(const SessionRecord& record);
};

struct Metrics {
  std::vector<SessionRecord> live;                // by id
  Counters ended;                                 // of sessions that ended since the daemon began
  std::map<std::string, std::uint64_t> started;   // since then, by what asked for them: attach, run, watch
  std::map<std::string, std::uint64_t> finished;  // by the state they ended in
  std::uint64_t watches = 0;
};

// Sessions that have a series of their own: those with most calls. The others count in the sums only.
inline constexpr std::size_t kMostSeries = 100;

std::string open_metrics(const Metrics& metrics);

}  // namespace fade::service
