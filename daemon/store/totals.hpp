// The totals of a recording, for the end block.
#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace fade::store {

struct FunctionTotals {
  std::string name;
  std::uint64_t calls = 0, errors = 0;
  std::int64_t total_ns = 0;
  std::uint64_t untimed = 0;  // of the calls, those that are not in total_ns
};

// A GPU of the machine in the last second of its sensors, of all processes.
struct GpuNow {
  int node = 0;                               // of the driver's topology (KFD)
  std::int64_t busy_percent = 0;              // average of the second
  std::int64_t memory_bytes = 0;              // in use
  bool has_busy = false, has_memory = false;  // the driver told it
};

// While the recording goes on.
struct LiveTotals {
  std::uint64_t calls = 0, errors = 0, dropped = 0;
  std::uint64_t launches = 0;
  std::int64_t gpu_busy_ns = 0;  // by the times of the GPU (--gpu-times), devices added up
  std::vector<GpuNow> gpus;
  std::uint64_t memory_bytes = 0, peak_bytes = 0;  // on devices, all processes together
  std::uint64_t database_bytes = 0;                // at the last commit
};

struct Totals {
  std::uint64_t calls = 0, errors = 0;
  std::uint64_t tapped = 0;   // of the calls, those that a tap recorded
  std::uint64_t counted = 0;  // and those that were only counted
  std::uint64_t dropped = 0;  // unknown calls, not even in the sums
  std::uint64_t launches = 0;
  std::int64_t gpu_busy_ns = 0;
  std::uint64_t overrides = 0, injections = 0, processes = 0, threads = 0;
  std::vector<FunctionTotals> top;                                 // at most 5, by total time
  std::vector<std::pair<std::string, std::uint64_t>> peak_memory;  // device label, bytes
};

}  // namespace fade::store
