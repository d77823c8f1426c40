// The machine according to the kernel's driver for AMD GPUs (KFD), read once at the start of a recording. A node is a
// CPU, a GPU, or both in one. A value that cannot be read is nullopt or empty, never a guess.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace fade {

struct KfdNode {  // one folder of the driver's topology: a field is a line of its files
  int node = 0;   // number of its folder
  bool gpu = false;
  std::string name;     // of the chip, printable: navi21
  std::string problem;  // why its facts are missing; empty: all were read
  std::string arch;     // gfx1030; empty for CPUs
  std::string pci;      // 0000:0a:00.0; empty for CPUs
  std::string uuid;     // GPU-b5e0..., as HIP spells unique_id; empty if the board has none
  std::optional<std::uint64_t> gpu_id, cpu_cores, simd_count, simd_per_cu, wave_size, gfx_target_version, vendor_id,
      device_id;
  std::optional<std::uint64_t> revision;                          // of the PCI device
  std::optional<std::uint64_t> memory_bytes;                      // of a GPU: its own memory; of a CPU: the system's
  std::optional<std::uint64_t> memory_bits, memory_mhz, max_mhz;  // width of the bus; clocks of memory and engine
  std::optional<std::uint64_t> waves_per_simd, xccs, render_minor;

  std::optional<std::uint64_t> compute_units() const {
    if (!simd_count || simd_per_cu.value_or(0) == 0) return std::nullopt;
    return *simd_count / *simd_per_cu;
  }
};

struct KfdTopology {
  std::string root;            // the folder that replaces /sys
  std::string problem;         // why nodes are missing; empty: none is missing
  std::vector<KfdNode> nodes;  // by number
};

}  // namespace fade
