#include "sensors/gpu_sensors.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <string_view>

#include "proc/proc_files.hpp"

namespace fade {
namespace {

constexpr std::size_t kMostOfAFile = 4096;
constexpr std::size_t kMostMonitors = 16, kMostProcesses = 10'000, kMostHolders = 64;
constexpr std::int64_t kMegahertz = 1'000'000;

// Documentation/gpu/amdgpu and hwmon/sysfs-interface: names of files, best first. HWMON/ stands for the folder of the
// GPU's hardware monitor.
struct SensorFiles {
  Sensor sensor;
  std::array<std::string_view, 2> names;
};
constexpr SensorFiles kFiles[] = {
    {Sensor::Busy, {"gpu_busy_percent"}},
    {Sensor::MemoryBusy, {"mem_busy_percent"}},
    {Sensor::Vram, {"mem_info_vram_used"}},
    {Sensor::HostMemory, {"mem_info_gtt_used"}},
    {Sensor::Power, {"HWMON/power1_average", "HWMON/power1_input"}},
    {Sensor::Temperature, {"HWMON/temp1_input"}},
    {Sensor::Clock, {"HWMON/freq1_input", "pp_dpm_sclk"}},
    {Sensor::MemoryClock, {"HWMON/freq2_input", "pp_dpm_mclk"}},
};
static_assert(std::size(kFiles) == kSensors);

std::optional<std::int64_t> number(std::string_view text) {
  std::int64_t out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  const bool ends = end == text.data() + text.size() || *end == '\n';
  return error == std::errc{} && ends ? std::optional(out) : std::nullopt;
}

// Lines of levels, "1: 2300Mhz *": the star marks the level in use.
std::optional<std::int64_t> marked_clock(std::string_view text) {
  const std::size_t star = text.find('*');
  if (star == std::string_view::npos) return std::nullopt;
  const std::size_t line = text.rfind('\n', star) + 1;  // npos + 1 is 0
  const std::size_t colon = text.find(": ", line);
  if (colon > star) return std::nullopt;
  std::int64_t megahertz = 0;
  const char* const begin = text.data() + colon + 2;
  const auto [end, error] = std::from_chars(begin, text.data() + star, megahertz);
  const bool is_clock = error == std::errc{} && std::string_view(end, text.data() + star).starts_with("Mhz");
  return is_clock && megahertz >= 0 && megahertz < kMegahertz ? std::optional(megahertz * kMegahertz) : std::nullopt;
}

std::optional<std::int64_t> value_of(const std::string& path) {
  const auto text = read_bounded(path, kMostOfAFile);
  if (!text) return std::nullopt;
  return path.ends_with("clk") ? marked_clock(*text) : number(*text);
}

std::vector<std::string> names_in(const std::string& folder, std::size_t most) {
  std::vector<std::string> out;
  std::error_code error;
  for (std::filesystem::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    out.push_back(it->path().filename().string());
    if (out.size() == most) break;
  }
  std::ranges::sort(out);
  return out;
}

// The folder of the first monitor; the driver makes one for each GPU.
std::string monitor_of(const std::string& device) {
  for (const std::string& name : names_in(device + "/hwmon", kMostMonitors))
    if (name.starts_with("hwmon")) return device + "/hwmon/" + name;
  return {};
}

}  // namespace

GpuSensors::GpuSensors(const std::string& sysfs_root, const std::string& pci, std::uint64_t gpu_id, int node)
    : pci_(pci),
      device_(sysfs_root + "/bus/pci/devices/" + pci),
      processes_(gpu_id == 0 ? std::string() : sysfs_root + "/class/kfd/kfd/proc"),
      vram_name_("vram_" + std::to_string(gpu_id)),
      node_(node) {
  constexpr std::string_view kMonitor = "HWMON/";
  const std::string monitor = monitor_of(device_);
  for (const auto& [sensor, names] : kFiles)
    for (const std::string_view name : names) {
      const bool monitored = name.starts_with(kMonitor);
      if (name.empty() || (monitored && monitor.empty())) continue;
      files_[static_cast<std::size_t>(sensor)].push_back(
          monitored ? monitor + "/" + std::string(name.substr(kMonitor.size())) : device_ + "/" + std::string(name));
    }
}

SensorReading GpuSensors::read() const {
  SensorReading out;
  out.asleep = read_bounded(device_ + "/power/runtime_status", kMostOfAFile).value_or("").starts_with("suspended");
  if (out.asleep) return out;
  for (std::size_t sensor = 0; sensor < kSensors; ++sensor)
    for (const std::string& file : files_[sensor])
      if ((out.values[sensor] = value_of(file))) break;
  return out;
}

std::vector<GpuHolder> GpuSensors::holders() const {
  std::vector<GpuHolder> out;
  if (processes_.empty()) return out;
  for (const std::string& name : names_in(processes_, kMostProcesses)) {
    const auto pid = number(name);
    const auto bytes = pid ? value_of(processes_ + "/" + name + "/" + vram_name_) : std::nullopt;
    if (bytes.value_or(0) > 0) out.push_back({*pid, *bytes});
  }
  std::ranges::sort(out, std::ranges::greater{}, &GpuHolder::bytes);
  if (out.size() > kMostHolders) out.resize(kMostHolders);
  return out;
}

std::vector<GpuSensors> sensors_of(const std::string& sysfs_root, const KfdTopology& topology) {
  std::vector<GpuSensors> out;
  for (const KfdNode& node : topology.nodes)
    if (node.gpu && !node.pci.empty()) out.emplace_back(sysfs_root, node.pci, node.gpu_id.value_or(0), node.node);
  return out;
}

}  // namespace fade
