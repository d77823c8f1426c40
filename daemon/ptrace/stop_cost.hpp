// The cost of a ptrace stop on this machine beyond the time for which the tracer holds the thread: the kernel's
// exception, the switches between thread and tracer, and the request that resumes. Measured with a child of the tracer
// that makes a few hundred calls.
#pragma once
#include <chrono>
#include <cstdint>

#include "base/measured.hpp"
#include "base/result.hpp"
#include "ptrace/tracer.hpp"

namespace fade {

// A call has two stops, at its entry and at its return.
struct StopCosts {
  std::uint32_t calls = 0;  // number of measured calls
  Measured call;            // duration of an empty function: from its recorded begin to the tracer's next stop
  Measured stop;            // duration of one stop beyond the time it is held: the request to resume, and the switches
  std::int64_t run_ns = 0;  // of this, the time for which the thread itself runs: a mean of all forms; 0: not known
};

// The way a thread continues from the stop at the entry of a function.
enum class EntryForm : std::uint8_t {
  Jump,  // by itself: the breakpoint is in the pad that the jump at the entry leads to
  Int3,  // at the address set by the tracer: the breakpoint is the entry itself
};

struct StopCostLimits {
  std::uint32_t calls = 200;                  // of each form, after some warm-up calls
  std::chrono::nanoseconds time{10'000'000};  // then fewer calls are enough
  std::uint32_t calls_apart = 40;
  // Where many programs run, each stop waits for a CPU. The user's program waits for all of them.
  std::chrono::nanoseconds most{200'000'000};    // then one call of each form is enough, and none apart
  std::chrono::nanoseconds wait{1'000'000'000};  // a stop that takes longer ends the measurement
};

struct CallCosts {
  StopCosts jump, int3;  // by EntryForm; calls of both forms alternate
  StopCosts apart;       // as jump, on another CPU than the tracer. calls = 0: no other CPU, or no time left
};

// Tracing thread only. Runs a child with a copy of this process's memory, pins it to the calling thread's CPU, then to
// another, and ends it. The child leaves nothing behind, and only the child is waited for. Returns an Error if the
// child cannot be made or traced, if it gets a signal, or if it had no CPU for one call. A tick (tracer.hpp) must
// interrupt waits, or `wait` has no effect.
Result<CallCosts> measure_stops(const Tracer& tracer, StopCostLimits limits = {});

}  // namespace fade
