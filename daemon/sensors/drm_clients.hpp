// What recorded processes use of AMD GPUs by their open files of the DRM driver (/proc/PID/fdinfo, kernel documentation
// "DRM client usage stats"): memory, and time of the engines that the driver schedules. Unlike the driver's process
// folders in sysfs it knows fade's own process ids, also in a container. Compute queues of HIP bypass the DRM
// scheduler, so their time is not in it. Nothing in the files is trusted. One thread at a time.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/gpu_sample.hpp"
#include "base/pid.hpp"
#include "proc/proc_files.hpp"

namespace fade {

enum class DrmEngine : std::uint8_t { Graphics, Compute, Copy, Other };
inline constexpr std::size_t kDrmEngines = 4;  // as in GpuClient::engine_ns

// One file of fdinfo.
struct DrmClientFile {
  std::string pci;
  std::int64_t client = 0;
  std::int64_t vram = 0, host = 0;                    // bytes
  std::array<std::int64_t, kDrmEngines> engine_ns{};  // since the file was opened
};
// nullopt: not of amdgpu, or without client or PCI address.
std::optional<DrmClientFile> read_drm_client(std::string_view fdinfo);

class DrmClients {
 public:
  explicit DrmClients(ProcFiles proc) : proc_(std::move(proc)) {}

  // Looks for open files of the processes: of each at its first call, then after 1, 2, 4, 8 and every 16 calls.
  void look_for(std::span<const Pid> pids);
  // The clients of a GPU since the last call for it, by process. A file that several processes share counts for the
  // first.
  std::vector<GpuClient> read(const std::string& pci);

 private:
  struct OpenFile {
    int fd = 0;
    std::string pci;  // empty: not read yet
  };
  struct Process {
    std::vector<OpenFile> files;
    std::uint32_t calls = 0, next = 0;
  };
  using Engines = std::array<std::int64_t, kDrmEngines>;
  using Client = std::pair<std::string, std::int64_t>;  // its GPU and number

  void find_files(Pid pid, Process& process) const;
  GpuClient read_process(Pid pid, Process& process, const std::string& pci, std::map<Client, Engines>& seen);
  void add(const DrmClientFile& file, GpuClient& to, std::map<Client, Engines>& seen);

  const ProcFiles proc_;
  std::map<Pid, Process> processes_;
  std::map<Client, Engines> engines_;  // as read last
};

}  // namespace fade
