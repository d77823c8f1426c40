#include "store/sensor_book.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace fade::store {
namespace {

using Average = std::optional<double>;
using Most = std::optional<std::int64_t>;

Average average(const SensorValues& values) {
  return values.n == 0 ? Average() : static_cast<double>(values.sum) / values.n;
}
Most most(const SensorValues& values) { return values.n == 0 ? Most() : values.most; }

}  // namespace

SensorBook::SensorBook(sqlite::Db& db, Failure& failure, SessionRow session)
    : session_(session),
      sample_(db, failure, "INSERT INTO gpu_sample_ VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)"),
      holder_(db, failure, "INSERT INTO gpu_holder_ VALUES (?,?,?,?,?)"),
      client_(db, failure, "INSERT INTO gpu_client_ VALUES (?,?,?,?,?,?,?,?,?,?)") {}

void SensorBook::on(const GpuSample& s) {
  const auto values = [&](Sensor sensor) -> const SensorValues& { return s.values[static_cast<std::size_t>(sensor)]; };
  const SensorValues &busy = values(Sensor::Busy), &memory_busy = values(Sensor::MemoryBusy);
  const SensorValues &vram = values(Sensor::Vram), &host = values(Sensor::HostMemory), &power = values(Sensor::Power);
  const SensorValues &heat = values(Sensor::Temperature), &clock = values(Sensor::Clock);
  const SensorValues& memory_clock = values(Sensor::MemoryClock);
  sample_(session_, s.at, s.duration, s.node, s.looks, s.asleep, average(busy), most(busy), average(memory_busy),
          most(memory_busy), average(vram), most(vram), average(host), most(host), average(power), most(power),
          average(heat), most(heat), average(clock), most(clock), average(memory_clock), most(memory_clock));
  const auto last = [](const SensorValues& v) { return v.n == 0 ? 0 : v.sum / static_cast<std::int64_t>(v.n); };
  now_[s.node] = {s.node, last(busy), last(vram), busy.n > 0, vram.n > 0};
  hold(s);
  use(s);
}

std::vector<GpuNow> SensorBook::now() const {
  std::vector<GpuNow> out;
  for (const auto& [node, gpu] : now_) out.push_back(gpu);
  return out;
}

void SensorBook::hold(const GpuSample& s) {
  std::map<std::int64_t, std::int64_t> now;
  for (const GpuHolder& holder : s.holders) now[holder.pid] = holder.bytes;
  auto& before = held_[s.node];
  for (const auto& [pid, bytes] : before)
    if (!now.contains(pid)) holder_(session_, s.at, s.node, pid, 0);
  for (const auto& [pid, bytes] : now)
    if (const auto was = before.find(pid); was == before.end() || was->second != bytes)
      holder_(session_, s.at, s.node, pid, bytes);
  before = std::move(now);
}

// A row for each change. A process that is not there any more holds nothing.
void SensorBook::use(const GpuSample& s) {
  const auto write = [&](const GpuClient& c) {
    client_(session_, s.at, s.node, c.pid, c.vram, c.host, c.engine_ns[0], c.engine_ns[1], c.engine_ns[2],
            c.engine_ns[3]);
  };
  std::map<std::int64_t, GpuClient> now;
  for (const GpuClient& client : s.clients) now[client.pid] = client;
  auto& before = clients_[s.node];
  for (const auto& [pid, client] : before)
    if (!now.contains(pid)) write({.pid = pid});
  for (const auto& [pid, client] : now) {
    const auto was = before.find(pid);
    const bool worked = std::ranges::any_of(client.engine_ns, [](std::int64_t ns) { return ns > 0; });
    if (was == before.end() || worked || was->second != client) write(client);
  }
  before = std::move(now);
}

}  // namespace fade::store
