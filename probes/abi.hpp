// Where the System V x86-64 calling convention (ABI 1.0, 3.2.3) puts the arguments of a prototype.
#pragma once
#include "base/result.hpp"
#include "probes/probe.hpp"

namespace fade::probes {

// Fills `at` of every parameter, and stack_words and sse_words. Refuses what the shared Location cannot say: a struct
// of at most 16 bytes of which one half goes to an integer register and the other to an SSE one.
Result<void> assign_locations(Probe& probe, const Types& types);

}  // namespace fade::probes
