// What a ptrace stop costs on this machine beyond the time for which the tracer holds the thread: the kernel's exception, its switches
// between thread and tracer, and the request that resumes. Measured with a child of the tracer that makes a few hundred calls.
#pragma once
#include <chrono>
#include <cstdint>

#include "base/result.hpp"
#include "ptrace/tracer.hpp"

namespace fade {

// A figure of many samples, in ns. Spread: four of five samples lie within median +- spread.
struct Measured {
  std::int64_t median = 0, spread = 0;
};

// A call has two stops, at its entry and at its return.
struct StopCosts {
  std::uint32_t calls = 0;  // that were measured
  Measured call;  // duration of an empty function: from the moment at which a session takes it to begin to the tracer's next stop
  Measured stop;  // what one stop lasts beyond the time for which the tracer holds the thread: the request to resume, and the switches
};

// How the thread goes on from the stop at the entry of a function.
enum class EntryForm : std::uint8_t {
  Jump,  // by itself: the breakpoint is in the pad that a jump at the entry leads to
  Int3,  // where the tracer sends it: the breakpoint is the entry itself
};

struct StopCostLimits {
  std::uint32_t calls = 100;                 // of each form, after some that warm up
  std::chrono::nanoseconds time{4'000'000};  // then fewer calls are enough
};

struct CallCosts {
  StopCosts jump, int3;  // by EntryForm; calls of both take turns
};

// Tracing thread only. Runs a child that shares this process's memory, pinned with the calling thread to one CPU, and ends it. Nothing
// is left of it afterwards, and nothing but it is waited for. Fails where the child cannot be made or traced, or a signal comes to it.
Result<CallCosts> measure_stops(const Tracer& tracer, StopCostLimits limits = {});

}  // namespace fade
