#include "cli/query/gpu_use.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <tuple>

#include "cli/query/page.hpp"
#include "cli/query/prose.hpp"
#include "cli/table/text.hpp"
#include "schema/schema.hpp"

namespace fade::query {
namespace {

using table::Value;

constexpr std::size_t kMostNamed = 4;  // processes in one label

// A device as one process numbers it. device -1: not known.
struct DeviceKey {
  std::int64_t session = 0, pid = 0, device = -1;
  auto operator<=>(const DeviceKey&) const = default;
};

DeviceKey device_key(const NamedRow& row) {
  return {row.number("session"), row.number("pid"), row.has("device") ? row.number("device") : -1};
}

struct Gpu {
  std::string name, pci;
  std::set<std::int64_t> ordinals, pids;
};

class Gpus {
 public:
  static Result<Gpus> read(Recording& recording, const Value& session) {
    const auto devices = named_rows(recording, schema::page_sql("gpus"), session);
    if (!devices) return tl::unexpected(devices.error());
    Gpus out;
    for (const NamedRow& device : *devices) out.add(device);
    return out;
  }

  // Its key: GPUs of one session stand together, in the order of their ordinals.
  using Id = std::tuple<std::int64_t, std::int64_t, std::string>;
  Id of(const DeviceKey& device) const {
    const auto found = by_device_.find(device);
    return {device.session, device.device < 0 ? kLast : device.device,
            found == by_device_.end() ? std::string() : found->second};
  }
  // The first ordinal of the GPU stands for it.
  Id gpu_of(const DeviceKey& device) const {
    Id id = of(device);
    const auto found = gpus_.find({device.session, std::get<2>(id)});
    if (found != gpus_.end()) std::get<1>(id) = *found->second.ordinals.begin();
    return id;
  }

  std::string label(const Id& id) const {
    const auto& [session, ordinal, key] = id;
    if (ordinal == kLast) return "an unknown device";
    const auto found = gpus_.find({session, key});
    if (found == gpus_.end()) return fmt::format("device {}", ordinal);
    const Gpu& gpu = found->second;
    const std::string base =
        fmt::format("device{} {}", gpu.ordinals.size() == 1 ? "" : "s", fmt::join(gpu.ordinals, ", "));
    return is_alone(session, gpu) ? base : base + which(gpu);
  }

 private:
  static constexpr std::int64_t kLast = std::numeric_limits<std::int64_t>::max();

  void add(const NamedRow& row) {
    const DeviceKey device = device_key(row);
    const std::string key = row.raw("gpu");
    by_device_[device] = key;
    Gpu& gpu = gpus_[{device.session, key}];
    gpu.ordinals.insert(device.device);
    gpu.pids.insert(device.pid);
    if (gpu.name.empty()) gpu.name = row.text("name");
    if (gpu.pci.empty()) gpu.pci = row.text("pci");
    ++users_[{device.session, device.device}][key];
  }

  // No other GPU has its ordinal in any process.
  bool is_alone(std::int64_t session, const Gpu& gpu) const {
    return gpu.ordinals.size() == 1 && users_.at({session, *gpu.ordinals.begin()}).size() == 1;
  }

  static std::string which(const Gpu& gpu) {
    if (!gpu.pci.empty()) return fmt::format(" ({} at {})", gpu.name.empty() ? "no name" : gpu.name, gpu.pci);
    if (gpu.pids.size() > kMostNamed) return fmt::format(" of {} processes", gpu.pids.size());
    return fmt::format("{} of process{} {}", gpu.name.empty() ? "" : " (" + gpu.name + ")",
                       gpu.pids.size() == 1 ? "" : "es", fmt::join(gpu.pids, ", "));
  }

  std::map<DeviceKey, std::string> by_device_;
  std::map<std::pair<std::int64_t, std::string>, Gpu> gpus_;
  std::map<std::pair<std::int64_t, std::int64_t>, std::map<std::string, int>> users_;  // by session and ordinal
};

struct Together {
  GpuMemory sum;
  std::int64_t highest = 0;  // peak of one process
  std::vector<DeviceKey> devices;
};

// The highest sum of several processes, from the timeline of each. Within a millisecond peaks count as simultaneous.
Result<std::int64_t> joint_peak(Recording& recording, const std::vector<DeviceKey>& devices, bool is_host) {
  std::string keys;
  for (const DeviceKey& d : devices)
    keys += fmt::format("{}[{}, {}, {}]", keys.empty() ? "" : ", ", d.session, d.pid, d.device);
  const auto peak = named_rows(recording, schema::page_sql("joint_peak"), Value{},
                               {{":devices", "[" + keys + "]"}, {":of_host", std::int64_t{is_host}}});
  if (!peak) return tl::unexpected(peak.error());
  return peak->empty() ? 0 : peak->front().number("peak");
}

Result<GpuMemory> summed(Recording& recording, Together& all, bool is_host) {
  if (all.devices.size() == 1) return all.sum;
  const auto joint = joint_peak(recording, all.devices, is_host);
  if (!joint) return tl::unexpected(joint.error());
  all.sum.at_most = *joint < all.highest;  // the recording has no timeline, or not all of it
  if (!all.sum.at_most) all.sum.peak = *joint;
  return all.sum;
}

}  // namespace

Result<std::vector<GpuMemory>> memory_by_gpu(Recording& recording, const Value& session) {
  const auto gpus = Gpus::read(recording, session);
  const auto rows = named_rows(recording, schema::page_sql("memory_totals"), session);
  if (!gpus || !rows) return tl::unexpected(!gpus ? gpus.error() : rows.error());
  std::map<std::pair<bool, Gpus::Id>, Together> all;
  for (const NamedRow& row : *rows) {
    const bool is_host = row.text("memory") == "host";
    const DeviceKey device = device_key(row);
    const Gpus::Id id = is_host ? Gpus::Id{} : gpus->gpu_of(device);
    Together& one = all[{is_host, id}];
    one.sum.where = is_host ? "pinned host memory" : gpus->label(id);
    const std::int64_t peak = row.number("peak");
    one.highest = std::max(one.highest, peak);
    one.sum.peak += peak;
    one.sum.left += row.number("live_at_end");
    one.sum.allocs += row.number("allocs");
    one.sum.frees += row.number("frees");
    one.devices.push_back(device);
  }
  std::vector<GpuMemory> out;
  for (auto& [key, one] : all) {
    auto sum = summed(recording, one, key.first);
    if (!sum) return tl::unexpected(sum.error());
    out.push_back(std::move(*sum));
  }
  return out;
}

Result<std::vector<std::string>> active_gpus(Recording& recording, const Value& session) {
  const auto gpus = Gpus::read(recording, session);
  const auto rows = named_rows(recording, schema::page_sql("active_devices"), session);
  if (!gpus || !rows) return tl::unexpected(!gpus ? gpus.error() : rows.error());
  std::set<Gpus::Id> used;
  for (const NamedRow& row : *rows) used.insert(gpus->gpu_of(device_key(row)));
  std::vector<std::string> out;
  for (const Gpus::Id& id : used) {
    const std::string label = gpus->label(id);
    const bool is_plain = label.starts_with("device ") && label.find_first_not_of("0123456789", 7) == label.npos;
    if (std::string words = is_plain ? label.substr(7) : label; std::ranges::find(out, words) == out.end())
      out.push_back(std::move(words));
  }
  return out;
}

}  // namespace fade::query
