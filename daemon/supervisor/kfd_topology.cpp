#include "supervisor/kfd_topology.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <limits>
#include <string_view>

#include "proc/proc_files.hpp"

namespace fade {
namespace {

constexpr std::size_t kMostOfANode = 64 << 10;
constexpr std::size_t kMostNodes = 1'024;  // of several machines' worth of GPUs
constexpr std::size_t kMostBanks = 64;     // of one node
constexpr std::size_t kMostOfAName = 64;
constexpr std::uint64_t kMostBytes = std::numeric_limits<std::int64_t>::max();  // that a database holds
constexpr std::uint64_t kGpuMemoryHeaps[] = {1, 2};  // HSA_HEAPTYPE_FRAME_BUFFER_PUBLIC and _PRIVATE

using Number = std::optional<std::uint64_t>;

Number number(std::string_view text, int base = 10) {
  text = text.substr(0, text.find_first_of(" \t\r\n"));
  std::uint64_t out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out, base);
  return error == std::errc{} && !text.empty() && end == text.data() + text.size() ? Number(out) : std::nullopt;
}

// Lines of "name value".
class Properties {
 public:
  explicit Properties(std::string text) : text_(std::move(text)) {}
  bool empty() const { return text_.find_first_not_of(" \t\r\n") == std::string::npos; }

  Number operator[](std::string_view name) const {
    for (std::string_view rest = text_; !rest.empty();) {
      const std::string_view line = rest.substr(0, rest.find('\n'));
      rest.remove_prefix(std::min(line.size() + 1, rest.size()));
      if (line.starts_with(name) && line.substr(name.size()).starts_with(' '))
        return number(line.substr(name.size() + 1));
    }
    return std::nullopt;
  }

 private:
  std::string text_;
};

struct Property {
  std::string_view name;
  Number KfdNode::*to;
};
constexpr Property kProperties[] = {
    {"cpu_cores_count", &KfdNode::cpu_cores},
    {"simd_count", &KfdNode::simd_count},
    {"simd_per_cu", &KfdNode::simd_per_cu},
    {"wave_front_size", &KfdNode::wave_size},
    {"gfx_target_version", &KfdNode::gfx_target_version},
    {"vendor_id", &KfdNode::vendor_id},
    {"device_id", &KfdNode::device_id},
    {"max_engine_clk_fcompute", &KfdNode::max_mhz},
    {"num_xcc", &KfdNode::xccs},
    {"drm_render_minor", &KfdNode::render_minor},
    {"max_waves_per_simd", &KfdNode::waves_per_simd},
};

std::vector<int> numbered_folders(const std::string& folder, std::size_t most, std::error_code& error) {
  std::vector<int> out;
  for (std::filesystem::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    const auto at = number(it->path().filename().native());
    if (at && *at < 1'000'000) out.push_back(static_cast<int>(*at));
    if (out.size() > most) break;
  }
  std::ranges::sort(out);
  return out;
}

std::string first_line(const std::string& path) {
  const std::string text = read_bounded(path, kMostOfANode).value_or("");
  return printable(text.substr(0, std::min(text.find('\n'), kMostOfAName)));
}

// A GPU's facts that follow from others.
void identify(KfdNode& node, const Properties& properties) {
  node.arch = gfx_name(node.gfx_target_version.value_or(0));
  if (const auto location = properties["location_id"])
    node.pci = pci_address(properties["domain"].value_or(0), *location);
  if (const std::uint64_t id = properties["unique_id"].value_or(0)) node.uuid = fmt::format("GPU-{:016x}", id);
}

}  // namespace

std::string gfx_name(std::uint64_t version) {
  const std::uint64_t major = version / 10'000, minor = version / 100 % 100, step = version % 100;
  if (major == 0 || major > 99 || minor > 15 || step > 15) return {};
  return fmt::format("gfx{}{:x}{:x}", major, minor, step);
}

std::string pci_address(std::uint64_t domain, std::uint64_t location) {
  return fmt::format("{:04x}:{:02x}:{:02x}.{:x}", domain & 0xffffffff, location >> 8 & 0xff, location >> 3 & 0x1f,
                     location & 7);
}

// The memory that is the GPU's own, or the system's if the node is a CPU; its width and clock.
void KfdReader::add_memory(KfdNode& node) const {
  const std::string folder = node_folder(node.node) + "/mem_banks";
  std::error_code none;
  auto banks = numbered_folders(folder, kMostBanks, none);
  if (banks.size() > kMostBanks) banks.resize(kMostBanks);
  for (const int bank : banks) {
    const Properties properties(read_bounded(fmt::format("{}/{}/properties", folder, bank), kMostOfANode).value_or(""));
    const auto heap = properties["heap_type"], bytes = properties["size_in_bytes"];
    if (!heap || !bytes || *bytes > kMostBytes) continue;
    if ((std::ranges::find(kGpuMemoryHeaps, *heap) != std::end(kGpuMemoryHeaps)) != node.gpu) continue;
    node.memory_bytes = std::min(node.memory_bytes.value_or(0) + *bytes, kMostBytes);
    node.memory_bits = properties["width"];
    node.memory_mhz = properties["mem_clk_max"];
  }
}

Number KfdReader::pci_revision(const std::string& pci) const {
  std::string text = read_bounded(root_ + "/bus/pci/devices/" + pci + "/revision", kMostOfANode).value_or("");
  if (text.starts_with("0x")) text.erase(0, 2);
  const auto revision = number(text, 16);
  return revision && *revision <= 0xff ? revision : std::nullopt;
}

KfdNode KfdReader::node(int at) const {
  KfdNode node{.node = at, .name = first_line(node_folder(at) + "/name")};
  node.gpu_id = number(read_bounded(node_folder(at) + "/gpu_id", kMostOfANode).value_or(""));
  const auto text = read_bounded(node_folder(at) + "/properties", kMostOfANode);
  if (!text) node.problem = fmt::format("its properties cannot be read: {}", std::strerror(errno));
  const Properties properties(text.value_or(""));
  if (text && properties.empty()) node.problem = "its properties are empty";
  for (const auto& [name, to] : kProperties) {
    node.*to = properties[name];
    if (node.*to && *(node.*to) > kMostBytes) node.*to = std::nullopt;
  }
  // The driver refuses only GPUs, to a container that was not given them.
  const bool refused = !text && !node.gpu_id;
  node.gpu = refused || node.gpu_id.value_or(0) != 0 || node.simd_count.value_or(0) != 0;
  add_memory(node);
  if (!node.gpu) return node;
  identify(node, properties);
  if (!node.pci.empty()) node.revision = pci_revision(node.pci);
  return node;
}

KfdTopology KfdReader::read() const {
  KfdTopology out{.root = root_};
  std::error_code error;
  auto numbers = numbered_folders(nodes_folder(), kMostNodes, error);
  if (error) out.problem = fmt::format("{} cannot be read: {}", nodes_folder(), error.message());
  else if (numbers.empty()) out.problem = fmt::format("{} is empty", nodes_folder());
  if (numbers.size() > kMostNodes) {
    numbers.resize(kMostNodes);
    out.problem = fmt::format("it has more than {} nodes; the others were not read", kMostNodes);
  }
  for (const int at : numbers) out.nodes.push_back(node(at));
  return out;
}

}  // namespace fade
