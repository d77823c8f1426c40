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

namespace fade::query {
namespace {

using table::Value;

constexpr std::size_t kMostNamed = 4;  // processes in one label

// A device as one process numbers it. device -1: not known.
struct DeviceKey {
  std::int64_t session = 0, pid = 0, device = -1;
  auto operator<=>(const DeviceKey&) const = default;
};

struct Gpu {
  std::string name, pci;
  std::set<std::int64_t> ordinals, pids;
};

// Which GPU a device is: the driver's node, the PCI address or the UUID that a process was told. A process that did not
// ask uses the GPU that others with the same variables were told under this ordinal. Where nobody asked, ordinal and
// variables are all there is to go by.
constexpr std::string_view kGpus =
    "WITH device AS (\n"
    "  SELECT d.id, d.session, d.pid, d.ordinal, d.name, d.pci, iif(trim(d.uuid, '0-') = '', NULL, d.uuid) AS uuid,\n"
    "    d.ordinal || coalesce((SELECT group_concat(key || '=' || value) FROM json_each(p.env)\n"
    "      WHERE key IN ('ROCR_VISIBLE_DEVICES', 'HIP_VISIBLE_DEVICES', 'CUDA_VISIBLE_DEVICES')), '') AS place\n"
    "  FROM devices d JOIN processes p ON p.session = d.session AND p.pid = d.pid\n"
    "  WHERE d.ordinal >= 0 AND d.session = coalesce(:session, d.session)),\n"
    "known AS (\n"
    "  SELECT x.*, coalesce('node ' || n.node_id, lower(x.pci), lower(x.uuid)) AS own FROM device x LEFT JOIN "
    "device_nodes n ON n.device_id = x.id)\n"
    "SELECT k.session, k.pid, k.ordinal, k.name, k.pci, coalesce(k.own,\n"
    "  (SELECT iif(count(DISTINCT o.own) = 1, max(o.own), NULL) FROM known o WHERE o.session = k.session AND o.place = "
    "k.place\n"
    "   AND o.own IS NOT NULL AND coalesce(o.name = k.name, 1)),\n"
    "  'place ' || k.place || coalesce(' ' || k.name, '')) AS gpu FROM known k ORDER BY k.id";

class Gpus {
 public:
  static Result<Gpus> read(Recording& recording, const Value& session) {
    const auto rows = rows_of(recording, kGpus, session);
    if (!rows) return tl::unexpected(rows.error());
    Gpus out;
    for (const Row& row : *rows) out.add(row);
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

  void add(const Row& row) {
    const DeviceKey device{integer(row[0]), integer(row[1]), integer(row[2])};
    const std::string key = table::raw_text(row[5]);
    by_device_[device] = key;
    Gpu& gpu = gpus_[{device.session, key}];
    gpu.ordinals.insert(device.device);
    gpu.pids.insert(device.pid);
    if (gpu.name.empty()) gpu.name = page_text(row[3]);
    if (gpu.pci.empty()) gpu.pci = page_text(row[4]);
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

DeviceKey device_key(const Row& row) {
  return {integer(row[0]), integer(row[1]), table::is_null(row[2]) ? -1 : integer(row[2])};
}

struct Together {
  GpuMemory sum;
  std::int64_t highest = 0;  // peak of one process
  std::vector<DeviceKey> devices;
};

// The highest sum of several processes, from the timeline of each. Within a millisecond peaks count as simultaneous.
Result<std::int64_t> joint_peak(Recording& recording, const std::vector<DeviceKey>& devices, bool is_host) {
  std::string keys;
  for (const DeviceKey& d : devices)
    keys += fmt::format("{}({}, {}, {})", keys.empty() ? "" : ", ", d.session, d.pid, d.device);
  const std::string sql = fmt::format(
      "WITH part AS (SELECT ms, used, peak, lag(used, 1, 0) OVER (PARTITION BY pid, device, kind ORDER BY ms) AS "
      "before FROM memory_timeline\n"
      "  WHERE (session, pid, coalesce(device, -1)) IN (VALUES {}) AND kind IN ({})),\n"
      "moment AS (SELECT ms, sum(used - before) AS change, sum(peak - before) AS rise FROM part GROUP BY ms)\n"
      "SELECT max(rise + before) FROM (\n"
      "  SELECT rise, coalesce(sum(change) OVER (ORDER BY ms ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS "
      "before FROM moment)",
      keys, is_host ? "'host', 'registered'" : "'device', 'managed', 'array', 'physical', 'graph'");
  const auto rows = rows_of(recording, sql, Value{});
  if (!rows) return tl::unexpected(rows.error());
  return rows->empty() ? 0 : integer((*rows)[0][0]);
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
  const auto rows = rows_of(recording,
                            "SELECT session, pid, device, memory, peak, live_at_end, allocs, frees FROM memory_totals "
                            "WHERE session = coalesce(:session, session) ORDER BY pid",
                            session);
  if (!gpus || !rows) return tl::unexpected(!gpus ? gpus.error() : rows.error());
  std::map<std::pair<bool, Gpus::Id>, Together> all;
  for (const Row& row : *rows) {
    const bool is_host = page_text(row[3]) == "host";
    const DeviceKey device = device_key(row);
    const Gpus::Id id = is_host ? Gpus::Id{} : gpus->gpu_of(device);
    Together& one = all[{is_host, id}];
    one.sum.where = is_host ? "pinned host memory" : gpus->label(id);
    const std::int64_t peak = integer(row[4]);
    one.highest = std::max(one.highest, peak);
    one.sum.peak += peak;
    one.sum.left += integer(row[5]);
    one.sum.allocs += integer(row[6]);
    one.sum.frees += integer(row[7]);
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
  const auto rows = rows_of(
      recording,
      "SELECT session, pid, device FROM streams WHERE launches + copies > 0 AND session = coalesce(:session, session) "
      "UNION SELECT session, pid, device FROM memory_totals WHERE memory = 'device' AND allocs > 0 "
      "AND session = coalesce(:session, session)",
      session);
  if (!gpus || !rows) return tl::unexpected(!gpus ? gpus.error() : rows.error());
  std::set<Gpus::Id> used;
  for (const Row& row : *rows) used.insert(gpus->gpu_of(device_key(row)));
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
