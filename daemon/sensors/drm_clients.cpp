#include "sensors/drm_clients.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>

namespace fade {
namespace {

constexpr std::size_t kMostOfFdinfo = 16384, kMostOpenFiles = 100'000, kMostFilesOfProcess = 256;
constexpr std::uint32_t kLongestPause = 16;

struct EngineWord {
  std::string_view key;
  DrmEngine engine;
};
constexpr EngineWord kEngines[] = {{"drm-engine-gfx", DrmEngine::Graphics},
                                   {"drm-engine-compute", DrmEngine::Compute},
                                   {"drm-engine-dma", DrmEngine::Copy}};
// The best first. drm-memory- is the older name of what is resident.
constexpr std::string_view kVram[] = {"drm-resident-vram", "drm-memory-vram", "drm-total-vram"};
constexpr std::string_view kHost[] = {"drm-resident-gtt", "drm-memory-gtt", "drm-total-gtt"};

// "12 KiB", "3 MiB", "7 ns" or "42"
std::optional<std::int64_t> amount(std::string_view text) {
  std::int64_t out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc{} || out < 0) return std::nullopt;
  const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  const int shift = unit.starts_with(" KiB") ? 10 : unit.starts_with(" MiB") ? 20 : 0;
  return out <= INT64_MAX >> (shift + 1) ? std::optional(out << shift) : std::nullopt;
}

std::int64_t first_of(const StatusFile& file, std::span<const std::string_view> keys) {
  for (const std::string_view key : keys)
    if (const auto bytes = amount(file.value(key))) return *bytes;
  return 0;
}

// The time of all engines that are not in kEngines: those for video, and those that later kernels add.
std::int64_t other_engines(std::string_view text) {
  std::int64_t out = 0;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    const std::string_view key = line.substr(0, line.find(':'));
    if (!key.starts_with("drm-engine-") || key.starts_with("drm-engine-capacity-")) continue;
    if (std::ranges::find(kEngines, key, &EngineWord::key) != std::end(kEngines)) continue;
    const std::size_t value = line.find_first_not_of(" \t", key.size() + 1);
    if (value < line.size()) out += std::min(amount(line.substr(value)).value_or(0), INT64_MAX / 1024);
  }
  return out;
}

}  // namespace

std::optional<DrmClientFile> read_drm_client(std::string_view fdinfo) {
  const StatusFile file{std::string(fdinfo)};
  const auto client = amount(file.value("drm-client-id"));
  DrmClientFile out{.pci = std::string(file.value("drm-pdev"))};
  if (file.value("drm-driver") != "amdgpu" || !client || out.pci.empty()) return std::nullopt;
  out.client = *client;
  out.vram = first_of(file, kVram);
  out.host = first_of(file, kHost);
  for (const auto& [key, engine] : kEngines)
    out.engine_ns[static_cast<std::size_t>(engine)] = amount(file.value(key)).value_or(0);
  out.engine_ns[static_cast<std::size_t>(DrmEngine::Other)] = other_engines(fdinfo);
  return out;
}

void DrmClients::look_for(std::span<const Pid> pids) {
  std::erase_if(processes_, [&](const auto& one) { return std::ranges::find(pids, one.first) == pids.end(); });
  for (const Pid pid : pids) {
    Process& process = processes_[pid];
    if (process.calls++ < process.next) continue;
    process.next = process.calls + std::min(std::max(process.calls, 1u), kLongestPause) - 1;
    find_files(pid, process);
  }
}

// A link is read for each open file, because the folder does not say what a file is.
void DrmClients::find_files(Pid pid, Process& process) const {
  process.files.clear();
  std::size_t seen = 0;
  std::error_code error;
  const std::string folder = proc_.path(pid, "fd");
  for (std::filesystem::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    if (++seen > kMostOpenFiles || process.files.size() == kMostFilesOfProcess) return;
    const std::string name = it->path().filename().string();
    int fd = 0;
    if (std::from_chars(name.data(), name.data() + name.size(), fd).ec != std::errc{}) continue;
    if (proc_.link(pid, "fd/" + name).starts_with("/dev/dri/")) process.files.push_back({fd, {}});
  }
}

std::vector<GpuClient> DrmClients::read(const std::string& pci) {
  std::vector<GpuClient> out;
  std::map<Client, Engines> seen;
  for (auto& [pid, process] : processes_)
    if (const GpuClient client = read_process(pid, process, pci, seen); client.is_there) out.push_back(client);
  std::erase_if(engines_, [&](const auto& one) { return one.first.first == pci && !seen.contains(one.first); });
  for (const auto& [client, engines] : seen) engines_[client] = engines;
  return out;
}

// A number that no longer is a file of the driver is forgotten: the program has closed it.
GpuClient DrmClients::read_process(Pid pid, Process& process, const std::string& pci, std::map<Client, Engines>& seen) {
  GpuClient out{.pid = pid.value()};
  std::erase_if(process.files, [&](OpenFile& file) {
    if (!file.pci.empty() && file.pci != pci) return false;
    const auto text = read_bounded(proc_.path(pid, "fdinfo/" + std::to_string(file.fd)), kMostOfFdinfo);
    const auto client = text ? read_drm_client(*text) : std::nullopt;
    if (!client) return true;
    file.pci = client->pci;
    if (client->pci == pci) add(*client, out, seen);
    return false;
  });
  return out;
}

void DrmClients::add(const DrmClientFile& file, GpuClient& to, std::map<Client, Engines>& seen) {
  const Client client{file.pci, file.client};
  if (!seen.emplace(client, file.engine_ns).second) return;  // another number of the same open file
  to.is_there = true;
  to.vram += file.vram;
  to.host += file.host;
  const auto before = engines_.find(client);
  if (before == engines_.end()) return;
  for (std::size_t i = 0; i < kDrmEngines; ++i)
    to.engine_ns[i] += std::max<std::int64_t>(file.engine_ns[i] - before->second[i], 0);
}

}  // namespace fade
