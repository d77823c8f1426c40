#include "store/memory_sums.hpp"

#include <algorithm>
#include <iterator>

namespace fade::store {

MemorySums::MemorySums(sqlite::Db& db, Failure& failure, BatchTable& bucket_rows, const Libraries& libraries)
    : libraries_(libraries),
      bucket_rows_(bucket_rows),
      stat_(db, failure, "INSERT OR REPLACE INTO mem_stat_ VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9)"),
      holder_(db, failure, "INSERT OR REPLACE INTO mem_holder_ VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9)") {}

void MemorySums::Sum::change(std::int64_t by, std::int64_t at) {
  changed = true;
  used = saturating_sum(used, by);
  if (used <= peak) return;
  peak = used;
  peak_at = at;
}

void MemorySums::close_bucket(const UseKey& key, Use& use) {
  if (use.ms_changed && has_timeline_)
    bucket_rows_.add(use.ms, key.first, static_cast<int>(key.second), use.used, use.ms_peak, use.ms_allocs,
                     use.ms_frees);
  use.ms_peak = use.used;
  use.ms_allocs = use.ms_frees = 0;
  use.ms_changed = false;
}

void MemorySums::write_use(const UseKey& key, Use& use) {
  if (!use.changed) return;
  close_bucket(key, use);
  stat_(key.first, static_cast<int>(key.second), use.used, use.peak, use.peak_at, use.allocs, use.frees, use.bytes,
        use.unknown_frees);
  use.changed = false;
}

void MemorySums::write_holder(const HolderKey& key, Sum& sum) {
  if (!sum.changed) return;
  holder_(key.device, static_cast<int>(key.memory), libraries_.path(key.library), sum.used, sum.peak, sum.peak_at,
          sum.allocs, sum.frees, sum.bytes);
  sum.changed = false;
}

// Calls come in the order of their returns, threads a little mixed: a late call counts for the open millisecond.
MemorySums::Use& MemorySums::use_at(ProcessId process, DeviceRow device, MemoryKind kind, std::int64_t at) {
  const UseKey key{device, kind};
  if (!last_use_ || last_use_key_ != key) {
    last_use_key_ = key;
    last_use_ = &uses_[key];
  }
  Use& use = *last_use_;
  if (const std::int64_t ms = at / 1'000'000; ms > use.ms) {
    close_bucket(key, use);
    use.ms = ms;
  }
  use.process = process;
  use.changed = use.ms_changed = true;
  return use;
}

MemorySums::Sum& MemorySums::holder(ProcessId process, const HolderKey& key) {
  auto& [last_key, last] = last_holders_[key.library == Libraries::kAll];
  if (!last || last_key != key) {
    last_key = key;
    last = &holders_[key];
  }
  Sum& sum = *last;
  sum.process = process;
  sum.changed = true;
  return sum;
}

// The calling library's sum, and that of all libraries together.
template <class Change>
void MemorySums::for_holders(ProcessId process, const Allocation& a, Change&& change) {
  const auto memory = class_of(a.kind);
  if (!memory) return;
  change(holder(process, {a.device, *memory, a.library}));
  change(holder(process, {a.device, *memory, Libraries::kAll}));
}

void MemorySums::change(ProcessId process, const Allocation& a, std::int64_t sign, std::int64_t at) {
  const std::int64_t bytes = sign * size_of(a);
  Use& use = use_at(process, a.device, a.kind, at);
  use.change(bytes, at);
  use.ms_peak = std::max(use.ms_peak, use.used);
  for_holders(process, a, [&](Sum& sum) { sum.change(bytes, at); });
  if (class_of(a.kind) != MemoryClass::Device) return;
  Peak& whole = devices_[a.device];
  whole.used = saturating_sum(whole.used, bytes);
  whole.peak = std::max(whole.peak, whole.used);
}

void MemorySums::count(ProcessId process, const Allocation& a, std::int64_t sign) {
  const auto add = [&](Sum& sum) {
    sum.allocs += sign;
    sum.bytes = saturating_sum(sum.bytes, sign * size_of(a));
  };
  Use& use = use_at(process, a.device, a.kind, a.cause.at);
  add(use);
  use.ms_allocs += sign;
  for_holders(process, a, add);
  change(process, a, sign, a.cause.at);
}

void MemorySums::freed(ProcessId process, const Allocation& a, std::int64_t at) {
  Use& use = use_at(process, a.device, a.kind, at);
  ++use.frees;
  ++use.ms_frees;
  for_holders(process, a, [](Sum& sum) { ++sum.frees; });
  change(process, a, -1, at);
}

void MemorySums::unknown_free(ProcessId process, DeviceRow device, std::int64_t at) {
  ++use_at(process, device, MemoryKind::Device, at).unknown_frees;
}

// ---------------------------------------------------------------- ends

void MemorySums::fall_to_nothing(const UseKey& key, Use& use, std::int64_t at) {
  close_bucket(key, use);
  if (use.used != 0 && has_timeline_)
    bucket_rows_.add(std::max(use.ms, at / 1'000'000) + 1, key.first, static_cast<int>(key.second), 0, 0, 0, 0);
  devices_[key.first].used = 0;
}

void MemorySums::exec_process(ProcessId process, std::int64_t at) {
  for (auto& [key, use] : uses_) {
    if (use.process != process) continue;
    fall_to_nothing(key, use, at);
    use.used = use.ms_peak = 0;
    use.changed = true;
  }
  for (auto& [key, sum] : holders_)
    if (sum.process == process) {
      sum.used = 0;
      sum.changed = true;
    }
}

void MemorySums::forget_last() {
  last_use_ = nullptr;
  for (LastHolder& last : last_holders_) last.sum = nullptr;
}

void MemorySums::end_process(ProcessId process, std::int64_t at) {
  forget_last();
  for (auto entry = uses_.begin(); entry != uses_.end();) {
    auto& [key, use] = *entry;
    if (use.process != process) {
      ++entry;
      continue;
    }
    write_use(key, use);
    fall_to_nothing(key, use, at);
    entry = uses_.erase(entry);
  }
  for (auto entry = holders_.begin(); entry != holders_.end();) {
    auto& [key, sum] = *entry;
    if (sum.process == process) write_holder(key, sum);
    entry = sum.process == process ? holders_.erase(entry) : std::next(entry);
  }
}

void MemorySums::flush() {
  for (auto& [key, use] : uses_) write_use(key, use);
  for (auto& [key, sum] : holders_) write_holder(key, sum);
}

// ---------------------------------------------------------------- answers

std::int64_t MemorySums::used_on(DeviceRow device, MemoryClass memory) const {
  const auto found = holders_.find({device, memory, Libraries::kAll});
  return found == holders_.end() ? 0 : found->second.used;
}

MemorySums::InUse MemorySums::in_use() const {
  InUse out;
  for (const auto& [device, use] : devices_) {
    out.bytes += static_cast<std::uint64_t>(std::max<std::int64_t>(use.used, 0));
    out.peak += static_cast<std::uint64_t>(std::max<std::int64_t>(use.peak, 0));
  }
  return out;
}

std::vector<std::pair<DeviceRow, std::uint64_t>> MemorySums::peaks() const {
  std::vector<std::pair<DeviceRow, std::uint64_t>> out;
  for (const auto& [device, use] : devices_)
    if (use.peak > 0) out.emplace_back(device, static_cast<std::uint64_t>(use.peak));
  return out;
}

std::int64_t MemorySums::live_bytes(ProcessId process) const {
  std::int64_t bytes = 0;
  for (const auto& [key, use] : uses_)
    if (use.process == process && class_of(key.second) == MemoryClass::Device) bytes = saturating_sum(bytes, use.used);
  return bytes;
}

std::vector<MemorySums::Holding> MemorySums::held(ProcessId process) const {
  std::vector<Holding> out;
  for (const auto& [key, use] : uses_)
    if (use.process == process) out.push_back({key.first, key.second, use.used, use.peak});
  return out;
}

}  // namespace fade::store
