// Reads the sensors of AMD GPUs from sysfs, as the amdgpu and KFD drivers show them. Needs no process and no HIP; asks
// nothing of programs. The place of /sys is a parameter: tests and containers bring their own. Nothing in it is
// trusted: a file may be missing, refused, empty or nonsense, and is then no reading.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/gpu_sample.hpp"
#include "base/kfd.hpp"

namespace fade {

struct SensorReading {
  bool asleep = false;
  std::array<std::optional<std::int64_t>, kSensors> values{};
};

class GpuSensors {
 public:
  // The files of one GPU. `pci`: 0000:0a:00.0. `gpu_id`: of the driver, 0: unknown.
  GpuSensors(const std::string& sysfs_root, const std::string& pci, std::uint64_t gpu_id, int node);

  int node() const { return node_; }
  const std::string& pci() const { return pci_; }
  // Takes some microseconds; the driver may ask the GPU's firmware, which takes up to milliseconds. A suspended GPU is
  // not asked, because the question may wake it.
  SensorReading read() const;
  // Processes that hold its memory, largest first, at most 64. Empty too if the driver does not say.
  std::vector<GpuHolder> holders() const;

 private:
  std::string pci_, device_, processes_, vram_name_;
  std::array<std::vector<std::string>, kSensors> files_;  // of each sensor, the first that can be read counts
  int node_;
};

// One for each GPU of the topology that has an address on the bus.
std::vector<GpuSensors> sensors_of(const std::string& sysfs_root, const KfdTopology& topology);

}  // namespace fade
