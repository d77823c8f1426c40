// The number of stops, and the time for which fade held threads: sums of a session, of its functions and of its
// threads. Times in nanoseconds. The kernel's share of a stop is not in them (CostMeasured). Tracing thread only.
#pragma once
#include "base/event.hpp"
#include "ptrace/stop_samples.hpp"
#include "session/function_table.hpp"
#include "session/inferior.hpp"

namespace fade {

struct StopTotals {
  std::uint64_t stops = 0;
  std::int64_t stopped_ns = 0;
  std::uint64_t call_stops = 0;  // of these, at breakpoints of recorded functions
  std::int64_t call_held_ns = 0;
  std::uint64_t stopped_threads = 0;  // at breakpoints
  std::uint64_t crossed_stops = 0;    // at breakpoints, of threads on another CPU than the tracer; an estimate
  std::uint64_t sampled_stops = 0;    // whose switches were measured
  std::int64_t sampled_ns = 0;
  // These three belong to the thread that was held longest.
  std::uint64_t busiest_stops = 0, busiest_crossed = 0;
  std::int64_t busiest_held_ns = 0;
};

class StopTally {
 public:
  explicit StopTally(EventSink& sink) : sink_(sink) {}

  // A stop that belongs to `entry`.
  void stopped(Entry& entry, std::int64_t held);
  // A stop at a breakpoint of the thread.
  void hit(Thread& thread, std::int64_t held);
  // So many stops of the thread, counted by hit(), crossed from one CPU to another (CpuFollower).
  void crossed(Thread& thread, std::uint32_t stops);
  // Some of these stops were measured (StopSamples).
  void sampled(Thread& thread, const StopSample& sample);
  // Sends ThreadCost: the cost of the thread's stops since the last time.
  void report(Thread& thread);
  const StopTotals& totals() const { return totals_; }

 private:
  EventSink& sink_;
  StopTotals totals_;
};

}  // namespace fade
