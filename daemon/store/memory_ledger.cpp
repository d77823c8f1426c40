#include "store/memory_ledger.hpp"

#include <algorithm>
#include <iterator>

namespace fade::store {
namespace {

constexpr std::uint64_t kRowBytes = 80;      // of an allocation, with its part of the pages
constexpr std::size_t kMostInside = 10'000;  // allocations that wait for the call around theirs

// Sizes come from the program: sums stop at the end of their range.
std::int64_t plus(std::int64_t a, std::int64_t b) {
  std::int64_t out;
  if (!__builtin_add_overflow(a, b, &out)) return out;
  return b < 0 ? std::numeric_limits<std::int64_t>::min() + 1 : std::numeric_limits<std::int64_t>::max();
}

// Where copies look for the host's side there should be little else.
Space space_of(const Allocation& a) {
  const bool host = a.space == Space::Memory && (a.kind == MemoryKind::Host || a.kind == MemoryKind::Managed);
  return host ? Space::Host : a.space;
}

std::int64_t size_of(const Allocation& allocation) { return static_cast<std::int64_t>(allocation.bytes); }

}  // namespace

MemoryLedger::MemoryLedger(sqlite::Db& db, Failure& failure, BatchTable& alloc_rows, BatchTable& bucket_rows,
                           std::int64_t last_alloc_id, const Libraries& libraries)
    : libraries_(libraries),
      trouble_(db, failure),
      alloc_rows_(alloc_rows),
      bucket_rows_(bucket_rows),
      last_alloc_id_(last_alloc_id),
      stat_(db, failure, "INSERT OR REPLACE INTO mem_stat_ VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9)"),
      holder_(db, failure, "INSERT OR REPLACE INTO mem_holder_ VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9)"),
      owner_(db, failure, "INSERT INTO alloc_owner_ VALUES (?,?,?)") {}

// ---------------------------------------------------------------- sums

void MemoryLedger::Sum::change(std::int64_t by, std::int64_t at) {
  changed = true;
  used = plus(used, by);
  if (used <= peak) return;
  peak = used;
  peak_at = at;
}

void MemoryLedger::close_bucket(const UseKey& key, Use& use) {
  if (use.ms_changed && has_timeline_)
    bucket_rows_.add(use.ms, key.first, static_cast<int>(key.second), use.used, use.ms_peak, use.ms_allocs,
                     use.ms_frees);
  use.ms_peak = use.used;
  use.ms_allocs = use.ms_frees = 0;
  use.ms_changed = false;
}

void MemoryLedger::write_sums(const UseKey& key, Use& use) {
  if (!use.changed) return;
  close_bucket(key, use);
  stat_(key.first, static_cast<int>(key.second), use.used, use.peak, use.peak_at, use.allocs, use.frees, use.bytes,
        use.unknown_frees);
  use.changed = false;
}

void MemoryLedger::write_holder(const HolderKey& key, Sum& sum) {
  if (!sum.changed) return;
  holder_(key.device, static_cast<int>(key.memory), libraries_.path(key.library), sum.used, sum.peak, sum.peak_at,
          sum.allocs, sum.frees, sum.bytes);
  sum.changed = false;
}

// Calls come in the order of their returns, threads a little mixed: a late call counts for the open millisecond.
MemoryLedger::Use& MemoryLedger::use_at(ProcessId process, DeviceRow device, MemoryKind kind, std::int64_t at) {
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

MemoryLedger::Sum& MemoryLedger::holder(ProcessId process, const HolderKey& key) {
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
void MemoryLedger::for_holders(ProcessId process, const Allocation& a, Change&& change) {
  const auto memory = class_of(a.kind);
  if (!memory) return;
  change(holder(process, {a.device, *memory, a.library}));
  change(holder(process, {a.device, *memory, Libraries::kAll}));
}

void MemoryLedger::change(ProcessId process, const Allocation& a, std::int64_t sign, std::int64_t at) {
  const std::int64_t bytes = sign * size_of(a);
  Use& use = use_at(process, a.device, a.kind, at);
  use.change(bytes, at);
  use.ms_peak = std::max(use.ms_peak, use.used);
  for_holders(process, a, [&](Sum& sum) { sum.change(bytes, at); });
  if (class_of(a.kind) != MemoryClass::Device) return;
  Peak& whole = devices_[a.device];
  whole.used = plus(whole.used, bytes);
  whole.peak = std::max(whole.peak, whole.used);
}

// One allocation more, or (sign -1) one that turned out to be none.
void MemoryLedger::count(ProcessId process, const Allocation& a, std::int64_t sign) {
  const auto add = [&](Sum& sum) {
    sum.allocs += sign;
    sum.bytes = plus(sum.bytes, sign * size_of(a));
  };
  Use& use = use_at(process, a.device, a.kind, a.cause.at);
  add(use);
  use.ms_allocs += sign;
  for_holders(process, a, add);
  change(process, a, sign, a.cause.at);
}

std::int64_t MemoryLedger::used_on(DeviceRow device, MemoryClass memory) const {
  const auto found = holders_.find({device, memory, Libraries::kAll});
  return found == holders_.end() ? 0 : found->second.used;
}

// ---------------------------------------------------------------- allocations

std::int64_t MemoryLedger::write_row(const Allocation& a, std::int64_t end, std::int64_t call_end) {
  const std::int64_t id = ++last_alloc_id_;
  if (!keep_rows_) return id;
  const bool unknown = a.bytes == 0 && (a.kind == MemoryKind::Imported || a.kind == MemoryKind::Mapped);
  alloc_rows_.add(id, static_cast<int>(a.kind), a.device, a.address, unknown ? kNull : size_of(a), a.cause.at, end,
                  a.cause.call, call_end, a.cause.function, a.cause.caller == 0 ? kNull : a.cause.caller);
  if (a.owner.process != 0) owner_(id, a.owner.process, static_cast<std::int64_t>(a.owner.address));
  return id;
}

void MemoryLedger::allocate(ProcessId process, const Allocation& asked) {
  Allocation fresh = asked;
  fresh.bytes = std::min<std::uint64_t>(asked.bytes, std::numeric_limits<std::int64_t>::max());
  Process& owner = live_[process];
  fresh.space = space_of(fresh);
  const std::uint64_t name = fresh.space == Space::Physical ? owner.mapped.create(fresh.address) : fresh.address;
  const auto [entry, is_new] = owner.live.try_emplace({fresh.space, name}, fresh);
  owner.count[static_cast<std::size_t>(fresh.space)] += is_new;
  if (!is_new) {
    Allocation& old = entry->second;
    if (fresh.space == Space::Ipc && old.owner == fresh.owner) {  // the runtime counts how often it is open
      ++old.opened;
      return;
    }
    // Made inside this call, by the runtime itself: the same memory. Else its free was not seen: a pool or a graph gave
    // it back.
    const bool was_inside =
        old.cause.parent != 0 && old.cause.parent >= fresh.cause.call && old.cause.at >= fresh.cause.entered;
    if (was_inside) count(process, old, -1);
    else free_one(process, old, kNull, fresh.cause.at);
    entry->second = fresh;
  }
  count(process, fresh, 1);
  remember_inside(fresh.cause, {process, entry->first});
}

void MemoryLedger::free_one(ProcessId process, const Allocation& a, std::int64_t call, std::int64_t at) {
  Use& use = use_at(process, a.device, a.kind, at);
  ++use.frees;
  ++use.ms_frees;
  for_holders(process, a, [](Sum& sum) { ++sum.frees; });
  change(process, a, -1, at);
  freed_.add(process, a.space, a.address, {write_row(a, at, call), call});
}

void MemoryLedger::erase(Process& process, std::map<Key, Allocation>::iterator entry) {
  --process.count[static_cast<std::size_t>(entry->first.first)];
  process.live.erase(entry);
}

void MemoryLedger::release(ProcessId process, Space space, std::uint64_t address, const Cause& cause,
                           DeviceRow device) {
  if (address == 0) return;  // hipFree(nullptr) does nothing
  if (space == Space::Physical && free_physical(process, address, cause)) return;
  Process& owner = live_[process];
  const auto found = find(owner, space, address);
  if (found != owner.live.end()) {
    // The program cannot have it yet: another thread was given the same address again before this call's return was
    // seen.
    if (cause.entered < found->second.cause.at) return;
    if (--found->second.opened > 0) return;
    free_one(process, found->second, cause.call, cause.at);
    return erase(owner, found);
  }
  const Freed* before = freed(process, space, address);
  if (before && before->call > cause.call) return;  // by a call inside this one
  ++use_at(process, device, MemoryKind::Device, cause.at).unknown_frees;
}

// Frees do not say which sort of memory it is.
std::map<MemoryLedger::Key, Allocation>::iterator MemoryLedger::find(Process& owner, Space space,
                                                                     std::uint64_t address) {
  const auto found = owner.live.find({space, address});
  return found == owner.live.end() && space == Space::Memory ? owner.live.find({Space::Host, address}) : found;
}

const Freed* MemoryLedger::freed(ProcessId process, Space space, std::uint64_t address) const {
  const Freed* found = freed_.find(process, space, address);
  return !found && space == Space::Memory ? freed_.find(process, Space::Host, address) : found;
}

void MemoryLedger::free_block(ProcessId process, MappedMemory::Block block, const Cause& cause) {
  Process& owner = live_[process];
  const auto found = owner.live.find({Space::Physical, block});
  if (found == owner.live.end()) return;
  free_one(process, found->second, cause.call, cause.at);
  erase(owner, found);
}

bool MemoryLedger::free_physical(ProcessId process, std::uint64_t handle, const Cause& cause) {
  const auto released = live_[process].mapped.release(handle);
  if (released.gone) free_block(process, *released.gone, cause);
  return released.known;
}

void MemoryLedger::unmap(ProcessId process, std::uint64_t address, std::uint64_t size, const Cause& cause) {
  for (const MappedMemory::Block block : live_[process].mapped.unmap(address, size)) free_block(process, block, cause);
}

void MemoryLedger::release_device(ProcessId process, DeviceRow device, const Cause& cause) {
  Process& owner = live_[process];
  for (auto entry = owner.live.begin(); entry != owner.live.end();) {
    const auto& [key, allocation] = *entry;
    if (allocation.device != device || class_of(allocation.kind) != MemoryClass::Device) {
      ++entry;
      continue;
    }
    if (key.first == Space::Physical) owner.mapped.forget(key.second);
    free_one(process, allocation, cause.call, cause.at);
    erase(owner, entry++);
  }
}

// ---------------------------------------------------------------- causes

void MemoryLedger::remember_inside(const Cause& cause, const Inside& inside) {
  if (cause.parent != 0 && inside_.size() < kMostInside) inside_.emplace(cause.parent, inside);
}

void MemoryLedger::outer_call(const Cause& cause, LibraryId library) {
  const auto [first, last] = inside_.equal_range(cause.call);
  std::vector<Inside> all;
  for (auto at = first; at != last; ++at) all.push_back(at->second);
  inside_.erase(first, last);
  for (const Inside& inside : all) {
    remember_inside(cause, inside);
    if (inside.oom != 0) {
      trouble_.oom_asked_by(inside.oom, cause, std::nullopt);
      continue;
    }
    Process& owner = live_[inside.process];
    const auto found = owner.live.find(inside.key);
    if (found == owner.live.end() || found->second.cause.at < cause.entered) continue;
    Allocation& a = found->second;
    const std::int64_t at = a.cause.at;
    count(inside.process, a, -1);
    a.library = library;
    a.cause.caller = cause.caller;
    a.cause.at = std::max(at, cause.at);
    count(inside.process, a, 1);
    a.cause.at = at;
  }
}

// ---------------------------------------------------------------- trouble

const Allocation* MemoryLedger::around(ProcessId process, Space space, std::uint64_t address) const {
  const auto owner = live_.find(process);
  if (owner == live_.end() || owner->second.count[static_cast<std::size_t>(space)] == 0) return nullptr;
  const auto after = owner->second.live.upper_bound({space, address});
  if (after == owner->second.live.begin()) return nullptr;
  const auto& [key, allocation] = *std::prev(after);
  const std::uint64_t inside = address - key.second;
  return key.first == space && (inside == 0 || inside < allocation.bytes) ? &allocation : nullptr;
}

Fault MemoryLedger::fault_of(ProcessId process, Space space, std::uint64_t address, const Freed*& before) const {
  const Allocation* live = around(process, space, address);
  if (!live && space == Space::Memory) live = around(process, Space::Host, address);
  if (live && live->address == address) return Fault::Refused;
  if (live) return Fault::Inside;
  before = freed(process, space, address);
  return before ? Fault::DoubleFree : Fault::Unknown;
}

void MemoryLedger::refused(ProcessId process, Space space, std::uint64_t address, const Cause& cause) {
  if (address == 0) return;
  const Freed* freed = nullptr;
  const Fault fault = fault_of(process, space, address, freed);
  trouble_.fault(fault, address, freed, cause);
}

void MemoryLedger::told(DeviceRow device, std::uint64_t free, std::uint64_t total, const Cause& cause) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::int64_t>::max();
  trouble_.told(device, static_cast<std::int64_t>(std::min(free, kMost)),
                static_cast<std::int64_t>(std::min(total, kMost)), used_on(device, MemoryClass::Device), cause);
}

void MemoryLedger::out_of_memory(ProcessId process, const Allocation& asked) {
  const auto [first, last] = inside_.equal_range(asked.cause.call);
  for (auto at = first; at != last; ++at)  // a call inside this one said so already
    if (at->second.oom != 0) return trouble_.oom_asked_by(at->second.oom, asked.cause, size_of(asked));
  const auto memory = class_of(asked.kind);
  if (!memory || !trouble_.wants_oom()) return;
  std::map<std::tuple<MemoryKind, std::int64_t, std::int64_t>, Held> held;
  for (const auto& [key, a] : live_[process].live) {
    if (class_of(a.kind) != memory || (*memory == MemoryClass::Device && a.device != asked.device)) continue;
    Held& h = held[{a.kind, a.cause.function, a.cause.caller}];
    h.kind = a.kind;
    h.function = a.cause.function;
    h.caller = a.cause.caller;
    ++h.n;
    h.bytes = plus(h.bytes, size_of(a));
    h.largest = std::max(h.largest, size_of(a));
  }
  std::vector<Held> rows;
  for (const auto& [key, h] : held) rows.push_back(h);
  const std::int64_t oom = trouble_.oom({asked.device, *memory, size_of(asked), used_on(asked.device, *memory)},
                                        std::move(rows), asked.cause);
  remember_inside(asked.cause, {process, {}, oom});
}

Place MemoryLedger::host_place_of(ProcessId process, std::uint64_t address) const {
  for (const Space space : {Space::Host, Space::Registered})
    if (const Allocation* found = around(process, space, address))
      return found->kind == MemoryKind::Managed ? Place::Managed : Place::Pinned;
  return Place::Unknown;
}

Place MemoryLedger::place_of(ProcessId process, std::uint64_t address) const {
  if (const Place host = host_place_of(process, address); host != Place::Unknown) return host;
  for (const Space space : {Space::Memory, Space::Ipc})
    if (around(process, space, address)) return Place::Device;
  const auto owner = live_.find(process);
  return owner != live_.end() && owner->second.mapped.block_at(address) ? Place::Device : Place::Unknown;
}

// ---------------------------------------------------------------- ends

void MemoryLedger::write_live(ProcessId process, std::int64_t end) {
  const auto owner = live_.find(process);
  if (owner == live_.end()) return;
  const std::uint64_t fit = room_() / kRowBytes;
  for (const auto& [key, allocation] : owner->second.live) {
    if (!keep_rows_ || alloc_rows_.rows() < fit) write_row(allocation, end, kNull);
    else ++without_row_;
  }
  live_.erase(owner);
}

void MemoryLedger::fall_to_nothing(const UseKey& key, Use& use, std::int64_t at) {
  close_bucket(key, use);
  if (use.used != 0 && has_timeline_)
    bucket_rows_.add(std::max(use.ms, at / 1'000'000) + 1, key.first, static_cast<int>(key.second), 0, 0, 0, 0);
  devices_[key.first].used = 0;
}

void MemoryLedger::exec_process(ProcessId process, std::int64_t at) {
  write_live(process, at);  // the driver frees all when another program begins
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

void MemoryLedger::forget_last() {
  last_use_ = nullptr;
  for (LastHolder& last : last_holders_) last.sum = nullptr;
}

// mem_stat_ and mem_holder_ keep the live allocations of the end; the timeline falls to 0.
void MemoryLedger::end_process(ProcessId process, std::int64_t at) {
  write_live(process, kNull);
  forget_last();
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
  for (auto entry = holders_.begin(); entry != holders_.end();) {
    auto& [key, sum] = *entry;
    if (sum.process == process) write_holder(key, sum);
    entry = sum.process == process ? holders_.erase(entry) : std::next(entry);
  }
}

void MemoryLedger::end_recording() {
  while (!live_.empty()) write_live(live_.begin()->first, kNull);
  trouble_.finish();
}

void MemoryLedger::flush() {
  for (auto& [key, use] : uses_) write_sums(key, use);
  for (auto& [key, sum] : holders_) write_holder(key, sum);
  trouble_.flush();
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

std::int64_t MemoryLedger::live_bytes(ProcessId process) const {
  std::int64_t bytes = 0;
  for (const auto& [key, use] : uses_)
    if (use.process == process && class_of(key.second) == MemoryClass::Device) bytes = plus(bytes, use.used);
  return bytes;
}

std::vector<MemoryLedger::Holding> MemoryLedger::held(ProcessId process) const {
  std::vector<Holding> out;
  for (const auto& [key, use] : uses_)
    if (use.process == process) out.push_back({key.first, key.second, use.used, use.peak});
  return out;
}

}  // namespace fade::store
