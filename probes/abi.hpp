// Registers and stack words of a prototype's arguments by the System V x86-64 calling convention (ABI 1.0, 3.2.3).
#pragma once
#include "base/result.hpp"
#include "probes/probe.hpp"

namespace fade::probes {

// Fills `at` of every parameter, and stack_words and sse_words. Refuses a struct that Location cannot express: at most
// 16 bytes, one half in an integer register, the other half in an SSE register.
Result<void> assign_locations(Probe& probe, const Types& types);

}  // namespace fade::probes
