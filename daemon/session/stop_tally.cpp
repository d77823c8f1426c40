#include "session/stop_tally.hpp"

#include <utility>

namespace fade {

void StopTally::stopped(Entry& entry, std::int64_t held) {
  ++totals_.stops;
  totals_.stopped_ns += held;
  ++entry.stops;
  entry.held_ns += held;
  if (entry.function == 0) return;
  ++totals_.call_stops;
  totals_.call_held_ns += held;
}

void StopTally::hit(Thread& thread, std::int64_t held) {
  totals_.stopped_threads += thread.held.stops++ == 0;
  thread.held.held_ns += held;
  ++thread.held.unreported.stops;
  thread.held.unreported.held_ns += held;
  if (thread.held.held_ns < totals_.busiest_held_ns) return;
  totals_.busiest_stops = thread.held.stops;
  totals_.busiest_held_ns = thread.held.held_ns;
  totals_.busiest_crossed = thread.held.crossed;
}

void StopTally::crossed(Thread& thread, std::uint32_t stops) {
  totals_.crossed_stops += stops;
  thread.held.crossed += stops;
  thread.held.unreported.crossed += stops;
}

void StopTally::sampled(Thread& thread, const StopSample& sample) {
  totals_.sampled_stops += sample.stops;
  totals_.sampled_ns += sample.ns;
  thread.held.unreported.sampled += sample.stops;
  thread.held.unreported.sampled_ns += sample.ns;
}

void StopTally::report(Thread& thread) {
  if (thread.held.unreported.stops == 0) return;
  thread.held.unreported.thread = thread.id;
  sink_.notice(std::exchange(thread.held.unreported, {}));
}

}  // namespace fade
