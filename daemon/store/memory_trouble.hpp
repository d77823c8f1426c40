// Trouble with memory: frees that the runtime refused, and allocations that it had no memory for, with the holders of
// memory then. Also the runtime's answers about free memory. All of it is bounded, whatever the program does.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "probes/memory_action.hpp"
#include "store/freed_memory.hpp"
#include "store/row_ids.hpp"
#include "store/write.hpp"

namespace fade::store {

using probes::MemoryKind;

// The call that did it, by rows.
struct Cause {
  ProcessRow process = 0;
  FunctionRow function = 0;
  SiteRow caller = 0;
  CallRow call = 0;
  CallRow parent = 0;                // the call around it
  std::int64_t entered = 0, at = 0;  // at: when it returned
};

// oom_.memory, mem_holder_.memory
enum class MemoryClass : std::uint8_t { Device, Host };
std::optional<MemoryClass> class_of(MemoryKind kind);  // nothing: address space only, or counted elsewhere

// memory_fault_.fault
enum class Fault : std::uint8_t { DoubleFree, Unknown, Inside, Refused };

// Live allocations of one sort, for a row of oom_holder_.
struct Held {
  MemoryKind kind{};
  FunctionRow function = 0;
  SiteRow caller = 0;
  std::int64_t n = 0, bytes = 0, largest = 0;
};

struct Exhausted {
  DeviceRow device = 0;
  MemoryClass memory{};
  std::int64_t asked = 0, used = 0;
};

class MemoryTrouble {
 public:
  static constexpr std::int64_t kMostOoms = 32;     // are stored with the holders of the memory
  static constexpr std::size_t kMostHeld = 50;      // rows of each; the rest is one row
  static constexpr std::size_t kMostFaults = 2000;  // (process, fault, function, caller)

  MemoryTrouble(sqlite::Db& db, Failure& failure);

  void fault(Fault fault, std::uint64_t address, const Freed* freed, const Cause& cause);
  void told(DeviceRow device, std::int64_t free, std::int64_t total, std::int64_t used, const Cause& cause);
  bool wants_oom() const { return ooms_ < kMostOoms; }
  OomRow oom(const Exhausted& exhausted, std::vector<Held> held, const Cause& cause);
  // It was asked for by a call around it.
  void oom_asked_by(OomRow oom, const Cause& cause, std::optional<std::int64_t> asked);
  void flush();
  void finish();  // writes the last answer

 private:
  struct FaultKey {
    ProcessRow process = 0;
    FunctionRow function = 0;
    SiteRow caller = 0;
    Fault fault{};
    auto operator<=>(const FaultKey&) const = default;
  };
  struct FaultSum {
    MemoryFaultRow row = 0;
    std::int64_t n = 0, last = 0;
    bool changed = false;
  };
  struct Told {
    std::int64_t first = 0, written = 0;
    CallRow call = 0;
    std::int64_t at = 0, free = 0, total = 0, used = 0;
    bool waits = false;
  };
  void write_told(DeviceRow device, Told& told);

  std::map<FaultKey, FaultSum> faults_;
  std::unordered_map<DeviceRow, Told> told_;  // by device
  std::int64_t ooms_ = 0;
  MemoryFaultRow last_fault_;
  OomRow last_oom_;
  Write fault_, fault_more_, told_row_, oom_, oom_held_, oom_call_;
};

}  // namespace fade::store
