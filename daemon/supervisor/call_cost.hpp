// The cost of fade's breakpoints on this machine, for a recording.
#pragma once
#include <cstdint>

#include "base/event.hpp"
#include "ptrace/tracer.hpp"

namespace fade {

// Measures both forms of entry with a child, which takes a few milliseconds, and sends the result, or the reason for
// none. Returns the time of a stop beyond the time for which fade holds the thread, in ns; 0: not known. Tracing thread
// only, while no stop waits to be handled.
std::int64_t measure_call_cost(const Tracer& tracer, EventSink& sink);

}  // namespace fade
