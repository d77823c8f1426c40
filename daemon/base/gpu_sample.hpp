// What the sensors of a GPU said during a second, and which processes held its memory.
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace fade {

// In the order of GpuSample::values and of the columns of gpu_sample_. Units are those of Linux' amdgpu driver
// (Documentation/gpu/amdgpu/thermal.rst, Documentation/hwmon/sysfs-interface.rst).
enum class Sensor : std::uint8_t {
  Busy,         // percent
  MemoryBusy,   // percent
  Vram,         // bytes in use, of all processes
  HostMemory,   // bytes of the host's memory that the GPU may use (GTT), in use
  Power,        // microwatts
  Temperature,  // thousandths of a degree Celsius, of the edge
  Clock,        // Hz, of the shaders
  MemoryClock,  // Hz
};
inline constexpr std::size_t kSensors = 8;

// The readings of one sensor. A reading that the driver refused is not counted.
struct SensorValues {
  std::uint32_t n = 0;
  std::int64_t sum = 0, least = 0, most = 0;

  void add(std::int64_t value) {
    least = n == 0 ? value : std::min(least, value);
    most = n == 0 ? value : std::max(most, value);
    sum += value;
    ++n;
  }
  bool operator==(const SensorValues&) const = default;
};

struct GpuHolder {       // a process that holds memory of the GPU, by the last look
  std::int64_t pid = 0;  // of the machine, not of a container
  std::int64_t bytes = 0;
  bool operator==(const GpuHolder&) const = default;
};

// Memory and engine times of a recorded process on a GPU, as its open files of the DRM driver tell them.
// Memory is that at the end of the second.
struct GpuClient {
  std::int64_t pid = 0;
  bool is_there = false;                    // it has such a file
  std::int64_t vram = 0, host = 0;          // bytes
  std::array<std::int64_t, 4> engine_ns{};  // in the second: graphics, compute, copy, others
  bool operator==(const GpuClient&) const = default;
};

struct GpuSample {
  std::int64_t at = 0, duration = 0;    // as all times of a session
  int node = 0;                         // of the driver's topology (KFD)
  std::uint32_t looks = 0, asleep = 0;  // asleep: looks at which the GPU was suspended; it is not woken
  std::array<SensorValues, kSensors> values{};
  std::vector<GpuHolder> holders;  // largest first
  std::vector<GpuClient> clients;
};

}  // namespace fade
