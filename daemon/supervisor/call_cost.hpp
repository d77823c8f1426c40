// The cost of fade's breakpoints and taps on this machine, for a recording.
#pragma once
#include <cstdint>

#include "base/event.hpp"
#include "ptrace/tracer.hpp"
#include "session/stop_tally.hpp"

namespace fade {

// The time of a stop beyond the time for which fade holds the thread, in ns; 0: not known.
struct CostOfStops {
  std::int64_t here_ns = 0;   // of a thread on the tracer's CPU
  std::int64_t apart_ns = 0;  // of a thread on another CPU
  std::int64_t run_ns = 0;    // of here_ns, what the thread itself runs

  // If enough stops of the session were measured themselves, their mean holds for all (schema/views/costs.sql).
  CostOfStops as_seen(const StopTotals& seen) const;
};

// Measures both forms of entry, and a thread on another CPU, with a child. That takes some 15 ms. Sends the results, or
// the reason for none. Tracing thread only, while no stop waits to be handled.
CostOfStops measure_call_cost(const Tracer& tracer, EventSink& sink);

// What a tap, and a gate, adds to a call, in ns; 0: not known.
struct CostOfTaps {
  std::int64_t tap_ns = 0, gate_ns = 0;
};

// Measures a tapped call, in this thread. That takes some 2 ms. Sends the result, or the reason for none. The cost of a
// gate is sent `with_gate` alone.
CostOfTaps measure_tap_cost(EventSink& sink, bool with_gate);

}  // namespace fade
