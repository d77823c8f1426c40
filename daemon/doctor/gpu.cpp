#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/glob.hpp"
#include "doctor/checks.hpp"
#include "session/gpu_nodes.hpp"
#include "supervisor/kfd_topology.hpp"

namespace fade::doctor {
namespace {

constexpr std::size_t kMostOfASysFile = 256, kMostPciDevices = 4'096;
constexpr double kGiB = 1024.0 * 1024 * 1024;
constexpr const char* kDeviceFlags = "docker run --device=/dev/kfd --device=/dev/dri ...";

std::string sys_line(const Examined& x, const std::string& path) {
  const std::string text = read_bounded(x.root + path, kMostOfASysFile).value_or("");
  return text.substr(0, text.find('\n'));
}

// The PCI addresses of AMD's display controllers (class 03) and processing accelerators (class 12).
std::vector<std::string> amd_gpus(const Examined& x) {
  std::vector<std::string> out;
  std::error_code error;
  std::size_t seen = 0;
  const std::string devices = "/sys/bus/pci/devices";
  for (std::filesystem::directory_iterator it(x.root + devices, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (++seen > kMostPciDevices) break;
    const std::string kind = sys_line(x, fmt::format("{}/{}/class", devices, name));
    const bool is_gpu = kind.starts_with("0x03") || kind.starts_with("0x12");
    if (is_gpu && sys_line(x, fmt::format("{}/{}/vendor", devices, name)) == "0x1002") out.push_back(name);
  }
  std::ranges::sort(out);
  return out;
}

Answer missing_kfd(const Examined& x) {
  const std::string text = "it does not exist: HIP finds no GPU";
  if (x.exists("/sys/module/amdgpu") || x.exists("/sys/class/kfd")) {
    if (x.is_in_container()) return problem(text + ", because the container was not given it", kDeviceFlags);
    return problem(text + ", though the driver is loaded",
                   "sudo dmesg | grep -i kfd      shows why the driver made none");
  }
  return none("it does not exist: the driver makes it");
}

Answer from_node(const GpuNode& node, const Examined& x) {
  const bool own = x.pid == 0;
  if (node.state == "device-open") return ok("the process has it open");
  if (node.state == "device-closed")
    return ok(fmt::format("{} ({})", own ? "it may be opened" : "the process has not opened it, and may", node.rights));
  if (node.state == "device-missing") return missing_kfd(x);
  const std::string text = node.detail.substr(std::min(node.detail.size(), node.path.size() + 1));
  if (x.is_in_container()) return problem(text, fmt::format("docker run --group-add {} ...", node.group));
  return problem(text, fmt::format("sudo usermod -aG {} $USER      and log in again", node.group));
}

std::string gpu_words(const KfdNode& node) {
  std::string out = fmt::format("node {}: {}", node.node, node.arch.empty() ? "unknown architecture" : node.arch);
  if (!node.name.empty()) out += fmt::format(" ({})", node.name);
  if (const auto units = node.compute_units()) out += fmt::format(", {} compute units", *units);
  if (node.memory_bytes) out += fmt::format(", {:.1f} GiB", static_cast<double>(*node.memory_bytes) / kGiB);
  return node.pci.empty() ? out : fmt::format("{} at {}", out, node.pci);
}

}  // namespace

Answers gpu_driver(const Examined& x) {
  const std::vector<std::string> gpus = amd_gpus(x);
  if (x.exists("/sys/module/amdgpu")) {
    const std::string version = sys_line(x, "/sys/module/amdgpu/version");  // of a driver from outside the kernel
    return {ok(fmt::format("amdgpu {}", version.empty() ? "of the kernel" : version))};
  }
  if (x.exists("/sys/class/kfd")) return {ok("amdgpu is part of the kernel")};
  if (x.exists("/dev/dxg")) return {ok("Windows has it (WSL): HIP uses /dev/dxg instead of /dev/kfd")};
  if (gpus.empty())
    return {problem("no AMD GPU is on the PCI bus, and amdgpu is not loaded",
                    "use a machine with an AMD GPU; recordings can be read on any")};
  return {problem(fmt::format("amdgpu is not loaded for the AMD GPU at {}", fmt::join(gpus, ", ")),
                  "sudo modprobe amdgpu      and: sudo dmesg | grep -i amdgpu")};
}

Answers kfd_node(const Examined& x) {
  for (const GpuNode& node : look_at_gpu_nodes(x.subject(), x.root + "/proc"))
    if (node.path == "/dev/kfd") return {from_node(node, x)};
  return {none("unknown: the process may not be looked at")};
}

Answers render_nodes(const Examined& x) {
  Answers out;
  bool has_kfd = false;
  for (const GpuNode& node : look_at_gpu_nodes(x.subject(), x.root + "/proc")) {
    if (node.path == "/dev/kfd") {
      has_kfd = node.state != "device-missing";
      continue;
    }
    out.push_back(from_node(node, x));
    out.back().name = base_name(node.path);
  }
  if (!out.empty()) return out;
  if (!has_kfd) return {none("none, and no /dev/kfd")};
  return {problem("there is no /dev/dri/renderD*: HIP cannot use the GPU",
                  x.is_in_container() ? kDeviceFlags : "sudo dmesg | grep -i amdgpu")};
}

Answers topology(const Examined& x) {
  const KfdTopology seen = KfdReader(x.root + "/sys").read();
  Answers out;
  if (!x.exists("/sys/class/kfd")) return {none("the driver shows none (/sys/class/kfd)")};
  if (!seen.problem.empty())
    out.push_back(warning(seen.problem, "mount the host's /sys, or name another place: fade-run --sysfs-root"));
  for (const KfdNode& node : seen.nodes) {
    if (!node.gpu) continue;
    if (node.problem.empty()) out.push_back(ok(gpu_words(node)));
    else
      out.push_back(warning(fmt::format("node {}: {}", node.node, node.problem),
                            "if this GPU should be used here, pass its /dev/dri/renderD* to the container"));
  }
  if (out.empty()) out.push_back(problem("the driver lists no GPU", "sudo dmesg | grep -i -e amdgpu -e kfd"));
  return out;
}

}  // namespace fade::doctor
