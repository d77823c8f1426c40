// What fade's breakpoints cost on this machine, for a recording.
#pragma once
#include <cstdint>

#include "base/event.hpp"
#include "ptrace/tracer.hpp"

namespace fade {

// Measures both forms of entry with a child, which takes a few milliseconds, and sends what was found, or why nothing was. Returns what a
// stop lasts beyond the time for which fade holds the thread, in ns; 0: not known. Tracing thread only, while no stop waits to be handled.
std::int64_t measure_call_cost(const Tracer& tracer, EventSink& sink);

}  // namespace fade
