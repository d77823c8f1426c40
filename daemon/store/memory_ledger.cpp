#include "store/memory_ledger.hpp"

#include <algorithm>
#include <iterator>

namespace fade::store {
namespace {

constexpr std::uint64_t kRowBytes = 80;      // of an allocation, with its part of the pages
constexpr std::size_t kMostInside = 10'000;  // allocations that wait for the call around theirs

// Where copies look for the host's side there should be little else.
Space space_of(const Allocation& a) {
  const bool host = a.space == Space::Memory && (a.kind == MemoryKind::Host || a.kind == MemoryKind::Managed);
  return host ? Space::Host : a.space;
}

}  // namespace

MemoryLedger::MemoryLedger(sqlite::Db& db, Failure& failure, BatchTable& alloc_rows, BatchTable& bucket_rows,
                           AllocRow last_alloc, const Libraries& libraries)
    : sums_(db, failure, bucket_rows, libraries),
      trouble_(db, failure),
      alloc_rows_(alloc_rows),
      last_alloc_(last_alloc),
      owner_(db, failure, "INSERT INTO alloc_owner_ VALUES (?,?,?)") {}

// ---------------------------------------------------------------- allocations

AllocRow MemoryLedger::write_row(const Allocation& a, std::int64_t end, CallRow call_end) {
  const AllocRow id = ++last_alloc_;
  if (!keep_rows_) return id;
  const bool unknown = a.bytes == 0 && (a.kind == MemoryKind::Imported || a.kind == MemoryKind::Mapped);
  alloc_rows_.add(id, static_cast<int>(a.kind), a.device, a.address, unknown ? kNull : size_of(a), a.cause.at, end,
                  a.cause.call, or_null(call_end), a.cause.function, or_null(a.cause.caller));
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
    if (was_inside) sums_.count(process, old, -1);
    else free_one(process, old, 0, fresh.cause.at);
    entry->second = fresh;
  }
  sums_.count(process, fresh, 1);
  remember_inside(fresh.cause, {process, entry->first});
}

void MemoryLedger::free_one(ProcessId process, const Allocation& a, CallRow call, std::int64_t at) {
  sums_.freed(process, a, at);
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
  sums_.unknown_free(process, device, cause.at);
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
    sums_.recount(inside.process, found->second, cause.at, [&](Allocation& a) {
      a.library = library;
      a.cause.caller = cause.caller;
    });
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
                static_cast<std::int64_t>(std::min(total, kMost)), sums_.used_on(device, MemoryClass::Device), cause);
}

void MemoryLedger::out_of_memory(ProcessId process, const Allocation& asked) {
  const auto [first, last] = inside_.equal_range(asked.cause.call);
  for (auto at = first; at != last; ++at)  // a call inside this one said so already
    if (at->second.oom != 0) return trouble_.oom_asked_by(at->second.oom, asked.cause, size_of(asked));
  const auto memory = class_of(asked.kind);
  if (!memory || !trouble_.wants_oom()) return;
  std::map<std::tuple<MemoryKind, FunctionRow, SiteRow>, Held> held;
  for (const auto& [key, a] : live_[process].live) {
    if (class_of(a.kind) != memory || (*memory == MemoryClass::Device && a.device != asked.device)) continue;
    Held& h = held[{a.kind, a.cause.function, a.cause.caller}];
    h.kind = a.kind;
    h.function = a.cause.function;
    h.caller = a.cause.caller;
    ++h.n;
    h.bytes = saturating_sum(h.bytes, size_of(a));
    h.largest = std::max(h.largest, size_of(a));
  }
  std::vector<Held> rows;
  for (const auto& [key, h] : held) rows.push_back(h);
  const OomRow oom = trouble_.oom({asked.device, *memory, size_of(asked), sums_.used_on(asked.device, *memory)},
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
    if (!keep_rows_ || alloc_rows_.rows() < fit) write_row(allocation, end, 0);
    else ++without_row_;
  }
  live_.erase(owner);
}

void MemoryLedger::exec_process(ProcessId process, std::int64_t at) {
  write_live(process, at);  // the driver frees all when another program begins
  sums_.exec_process(process, at);
}

void MemoryLedger::end_process(ProcessId process, std::int64_t at) {
  write_live(process, kNull);
  sums_.end_process(process, at);
}

void MemoryLedger::end_recording() {
  while (!live_.empty()) write_live(live_.begin()->first, kNull);
  trouble_.finish();
}

void MemoryLedger::flush() {
  sums_.flush();
  trouble_.flush();
}

}  // namespace fade::store
