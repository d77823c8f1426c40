#include "store/memory_trouble.hpp"

#include <algorithm>
#include <tuple>

#include "store/batch_table.hpp"

namespace fade::store {
namespace {

// Rows of the answers lie ever further apart: some hundred for each tenfold of time.
constexpr std::int64_t kRowsOfALife = 256;

}  // namespace

std::optional<MemoryClass> class_of(MemoryKind kind) {
  constexpr std::optional<MemoryClass> kClasses[] = {
      MemoryClass::Device, MemoryClass::Host, MemoryClass::Device, MemoryClass::Host,   MemoryClass::Device,
      MemoryClass::Device, std::nullopt,      std::nullopt,        MemoryClass::Device, std::nullopt};
  return kClasses[static_cast<std::size_t>(kind)];
}

MemoryTrouble::MemoryTrouble(sqlite::Db& db, Failure& failure)
    : last_fault_(last_row<MemoryFaultRow>(db, "memory_fault_")),
      last_oom_(last_row<OomRow>(db, "oom_")),
      fault_(db, failure, "INSERT INTO memory_fault_ VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?8,1,?9,?10)"),
      fault_more_(db, failure, "UPDATE memory_fault_ SET n = ?2, ts_last = ?3 WHERE id = ?1"),
      told_row_(db, failure, "INSERT OR REPLACE INTO mem_told_ VALUES (?,?,?,?,?,?)"),
      oom_(db, failure, "INSERT INTO oom_ VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?)"),
      oom_held_(db, failure, "INSERT INTO oom_holder_ VALUES (?,?,?,?,?,?,?)"),
      oom_call_(
          db, failure,
          "UPDATE oom_ SET call = ?2, fn = coalesce(?3, fn), caller = ?4, asked = coalesce(?5, asked) WHERE id = ?1") {}

void MemoryTrouble::fault(Fault fault, std::uint64_t address, const Freed* freed, const Cause& cause) {
  if (faults_.size() >= kMostFaults) return;
  FaultSum& sum = faults_[{cause.process, cause.function, cause.caller, fault}];
  ++sum.n;
  sum.last = cause.at;
  sum.changed = sum.row != 0;
  if (sum.row != 0) return;
  sum.row = ++last_fault_;
  fault_(sum.row, cause.process, static_cast<int>(fault), cause.function, unless(cause.caller, 0),
         static_cast<std::int64_t>(address), cause.call, cause.at, freed ? std::optional(freed->alloc) : std::nullopt,
         freed ? unless(freed->call, 0) : std::nullopt);
}

void MemoryTrouble::write_told(DeviceRow device, Told& told) {
  told_row_(device, told.at, told.call, told.free, told.total, told.used);
  told.written = told.at;
  told.waits = false;
}

void MemoryTrouble::told(DeviceRow device, std::int64_t free, std::int64_t total, std::int64_t used,
                         const Cause& cause) {
  const auto [entry, fresh] = told_.try_emplace(device);
  Told& told = entry->second;
  if (fresh) told.first = cause.at;
  std::tie(told.call, told.at, told.free, told.total, told.used) = std::tuple(cause.call, cause.at, free, total, used);
  told.waits = true;
  if (fresh || cause.at - told.written > (cause.at - told.first) / kRowsOfALife) write_told(device, told);
}

OomRow MemoryTrouble::oom(const Exhausted& e, std::vector<Held> held, const Cause& cause) {
  ++ooms_;
  const auto told = told_.find(e.device);
  const bool known = told != told_.end();
  const auto fact = [&](std::int64_t Told::*what) { return known ? std::optional(told->second.*what) : std::nullopt; };
  oom_(++last_oom_, cause.process, e.device, static_cast<int>(e.memory), cause.call, cause.at, cause.function,
       unless(cause.caller, 0), e.asked, e.used, fact(&Told::free), fact(&Told::total), fact(&Told::at));
  std::sort(held.begin(), held.end(),
            [](const Held& a, const Held& b) { return std::tie(b.bytes, a.caller) < std::tie(a.bytes, b.caller); });
  Held rest;
  for (std::size_t i = 0; i < held.size(); ++i) {
    const Held& h = held[i];
    if (i < kMostHeld) {
      oom_held_(last_oom_, static_cast<int>(h.kind), unless(h.function, 0), unless(h.caller, 0), h.n, h.bytes,
                h.largest);
      continue;
    }
    rest.kind = h.kind;
    rest.n += h.n;
    rest.bytes += h.bytes;
    rest.largest = std::max(rest.largest, h.largest);
  }
  if (rest.n > 0)
    oom_held_(last_oom_, static_cast<int>(rest.kind), std::nullopt, std::nullopt, rest.n, rest.bytes, rest.largest);
  return last_oom_;
}

void MemoryTrouble::oom_asked_by(OomRow oom, const Cause& cause, std::optional<std::int64_t> asked) {
  oom_call_(oom, cause.call, asked ? std::optional(cause.function) : std::nullopt, unless(cause.caller, 0), asked);
}

void MemoryTrouble::flush() {
  for (auto& [key, sum] : faults_) {
    if (sum.changed) fault_more_(sum.row, sum.n, sum.last);
    sum.changed = false;
  }
}

void MemoryTrouble::finish() {
  for (auto& [device, told] : told_)
    if (told.waits) write_told(device, told);
}

}  // namespace fade::store
