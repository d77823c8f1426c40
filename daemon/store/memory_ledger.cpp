#include "store/memory_ledger.hpp"

#include <algorithm>

namespace fade::store {
namespace {

constexpr std::int64_t kNull = BatchTable::kNull;

// Sizes come from the program: sums stop at the end of their range.
std::int64_t plus(std::int64_t a, std::int64_t b) {
  std::int64_t out;
  if (!__builtin_add_overflow(a, b, &out)) return out;
  return b < 0 ? std::numeric_limits<std::int64_t>::min() + 1 : std::numeric_limits<std::int64_t>::max();
}

}  // namespace

MemoryLedger::MemoryLedger(sqlite::Db& db, Failure& failure, BatchTable& alloc_rows, std::int64_t last_alloc_id)
    : alloc_rows_(alloc_rows), last_alloc_id_(last_alloc_id),
      bucket_(db, failure,
              "INSERT INTO mem_bucket_ VALUES (?1,?2,?3,?4,?5,?6,?7) ON CONFLICT DO UPDATE SET used = excluded.used, "
              "peak = max(peak, excluded.peak), allocs = allocs + excluded.allocs, frees = frees + excluded.frees"),
      stat_(db, failure, "INSERT OR REPLACE INTO mem_stat_ VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9)") {}

void MemoryLedger::close_bucket(const UseKey& key, Use& use) {
  if (use.ms_changed)
    bucket_(use.ms, key.first, static_cast<int>(key.second), use.used, use.ms_peak, use.ms_allocs, use.ms_frees);
  use.ms_peak = use.used;
  use.ms_allocs = use.ms_frees = 0;
  use.ms_changed = false;
}

void MemoryLedger::write_sums(const UseKey& key, Use& use) {
  if (!use.changed) return;
  close_bucket(key, use);
  stat_(key.first, static_cast<int>(key.second), use.used, use.peak, use.peak_at, use.allocs, use.frees, use.bytes, use.unknown_frees);
  use.changed = false;
}

// Calls come in the order of their returns, threads a little mixed: what is late counts for the open millisecond.
MemoryLedger::Use& MemoryLedger::use_at(ProcessId process, DeviceRow device, MemoryKind kind, std::int64_t at) {
  const UseKey key{device, kind};
  Use& use = uses_[key];
  if (const std::int64_t ms = at / 1'000'000; ms > use.ms) {
    close_bucket(key, use);
    use.ms = ms;
  }
  use.process = process;
  use.changed = use.ms_changed = true;
  return use;
}

void MemoryLedger::change(Use& use, const Allocation& allocation, std::int64_t sign, std::int64_t at) {
  const std::int64_t bytes = sign * static_cast<std::int64_t>(allocation.bytes);
  use.used = plus(use.used, bytes);
  use.ms_peak = std::max(use.ms_peak, use.used);
  if (use.used > use.peak) {
    use.peak = use.used;
    use.peak_at = at;
  }
  if (allocation.kind == MemoryKind::Host) return;
  Device& whole = devices_[allocation.device];
  whole.used = plus(whole.used, bytes);
  whole.peak = std::max(whole.peak, whole.used);
}

void MemoryLedger::write_row(std::uint64_t address, const Allocation& a, std::int64_t end, std::int64_t call_end) {
  if (!keep_rows_) return;
  alloc_rows_.add(++last_alloc_id_, static_cast<int>(a.kind), a.device, address, a.bytes, a.at, end, a.call, call_end);
}

void MemoryLedger::allocate(ProcessId process, std::uint64_t address, const Allocation& asked) {
  Allocation allocation = asked;
  allocation.bytes = std::min<std::uint64_t>(asked.bytes, std::numeric_limits<std::int64_t>::max());
  const auto [entry, fresh] = live_[process].try_emplace(address, allocation);
  if (!fresh) {  // its free was not seen: a pool or a graph gave it back
    free_one(process, address, entry->second, kNull, allocation.at);
    entry->second = allocation;
  }
  Use& use = use_at(process, allocation.device, allocation.kind, allocation.at);
  ++use.allocs;
  ++use.ms_allocs;
  use.bytes = plus(use.bytes, static_cast<std::int64_t>(allocation.bytes));
  change(use, allocation, 1, allocation.at);
}

void MemoryLedger::free_one(ProcessId process, std::uint64_t address, const Allocation& allocation, std::int64_t call, std::int64_t at) {
  Use& use = use_at(process, allocation.device, allocation.kind, at);
  ++use.frees;
  ++use.ms_frees;
  change(use, allocation, -1, at);
  write_row(address, allocation, at, call);
}

void MemoryLedger::release(ProcessId process, std::uint64_t address, std::int64_t call, std::int64_t at, DeviceRow device) {
  if (address == 0) return;  // hipFree(nullptr) does nothing
  auto& ledger = live_[process];
  const auto found = ledger.find(address);
  if (found == ledger.end()) {
    ++use_at(process, device, MemoryKind::Device, at).unknown_frees;
    return;
  }
  free_one(process, address, found->second, call, at);
  ledger.erase(found);
}

void MemoryLedger::release_device(ProcessId process, DeviceRow device, std::int64_t call, std::int64_t at) {
  std::erase_if(live_[process], [&](const auto& entry) {
    if (entry.second.device != device || entry.second.kind == MemoryKind::Host) return false;
    free_one(process, entry.first, entry.second, call, at);
    return true;
  });
}

void MemoryLedger::write_live(ProcessId process) {
  const auto ledger = live_.find(process);
  if (ledger == live_.end()) return;
  for (const auto& [address, allocation] : ledger->second) write_row(address, allocation, kNull, kNull);
  live_.erase(ledger);
}

void MemoryLedger::fall_to_nothing(const UseKey& key, Use& use, std::int64_t at) {
  close_bucket(key, use);
  if (use.used != 0) bucket_(std::max(use.ms, at / 1'000'000) + 1, key.first, static_cast<int>(key.second), 0, 0, 0, 0);
  devices_[key.first].used = 0;
}

void MemoryLedger::exec_process(ProcessId process, std::int64_t at) {
  write_live(process);
  for (auto& [key, use] : uses_) {
    if (use.process != process) continue;
    fall_to_nothing(key, use, at);
    use.used = use.ms_peak = 0;
    use.changed = true;
  }
}

// mem_stat_ keeps what was live at the end; the timeline falls to nothing.
void MemoryLedger::end_process(ProcessId process, std::int64_t at) {
  write_live(process);
  for (auto entry = uses_.begin(); entry != uses_.end();) {
    auto& [key, use] = *entry;
    if (use.process != process) {
      ++entry;
      continue;
    }
    write_sums(key, use);
    fall_to_nothing(key, use, at);
    entry = uses_.erase(entry);
  }
}

void MemoryLedger::end_recording() {
  while (!live_.empty()) write_live(live_.begin()->first);
}

void MemoryLedger::flush() {
  for (auto& [key, use] : uses_) write_sums(key, use);
}

MemoryLedger::InUse MemoryLedger::in_use() const {
  InUse out;
  for (const auto& [device, use] : devices_) {
    out.bytes += static_cast<std::uint64_t>(std::max<std::int64_t>(use.used, 0));
    out.peak += static_cast<std::uint64_t>(std::max<std::int64_t>(use.peak, 0));
  }
  return out;
}

std::vector<std::pair<DeviceRow, std::uint64_t>> MemoryLedger::peaks() const {
  std::vector<std::pair<DeviceRow, std::uint64_t>> out;
  for (const auto& [device, use] : devices_)
    if (use.peak > 0) out.emplace_back(device, static_cast<std::uint64_t>(use.peak));
  return out;
}

std::vector<MemoryLedger::Held> MemoryLedger::held(ProcessId process) const {
  std::vector<Held> out;
  for (const auto& [key, use] : uses_)
    if (use.process == process) out.push_back({key.first, key.second, use.used, use.peak});
  return out;
}

}  // namespace fade::store
