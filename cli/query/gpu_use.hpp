// What each GPU was used for by all processes together. Several processes may use one GPU, and one ordinal may be
// another GPU in each process (HIP_VISIBLE_DEVICES). Texts come from a recording and are made printable here.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "cli/query/command.hpp"

namespace fade::query {

struct GpuMemory {
  std::string where;  // "device 0", "device 0 (AMD Radeon RX 6800 XT at 0000:03:00.0)", "pinned host memory"
  std::int64_t peak = 0, left = 0, allocs = 0, frees = 0;  // bytes; calls
  bool at_most = false;                                    // when each of several processes had its peak is not known
};
// In the order of ordinals, pinned host memory last. `session`: NULL means all.
Result<std::vector<GpuMemory>> memory_by_gpu(Recording& recording, const table::Value& session);

// The GPUs on which memory was allocated, or to which work was sent: "0", "1", or as in GpuMemory::where.
Result<std::vector<std::string>> active_gpus(Recording& recording, const table::Value& session);

}  // namespace fade::query
