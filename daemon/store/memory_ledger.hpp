// The allocations of each process that are not freed. One row per allocation when it is freed or when the process ends;
// memory is bounded by the live allocations. Children of fork begin empty. MemorySums adds them up.
#pragma once
#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/event.hpp"
#include "probes/memory_action.hpp"
#include "store/allocation.hpp"
#include "store/batch_table.hpp"
#include "store/freed_memory.hpp"
#include "store/mapped_memory.hpp"
#include "store/memory_sums.hpp"
#include "store/memory_trouble.hpp"
#include "store/write.hpp"

namespace fade::store {

inline constexpr std::int64_t kOutOfMemory = 2;  // hipErrorOutOfMemory

class MemoryLedger {
 public:
  MemoryLedger(sqlite::Db& db, Failure& failure, BatchTable& alloc_rows, BatchTable& bucket_rows, AllocRow last_alloc,
               const Libraries& libraries);

  void allocate(ProcessId process, const Allocation& allocation);
  // A free of an unknown address is counted for `device`.
  void release(ProcessId process, Space space, std::uint64_t address, const Cause& cause, DeviceRow device);
  // The allocation around this address; nullptr: no known one.
  const Allocation* allocation_at(ProcessId process, std::uint64_t address) const;
  bool holds(ProcessId process, Space space, std::uint64_t address) const;
  // Imported memory of unknown size, which the runtime was asked for.
  void measure(ProcessId process, std::uint64_t address, std::uint64_t bytes, std::int64_t at);
  // The runtime refused to free that.
  void refused(ProcessId process, Space space, std::uint64_t address, const Cause& cause);
  void map(ProcessId process, std::uint64_t address, std::uint64_t size, std::uint64_t handle) {
    live_[process].mapped.map(address, size, handle);
  }
  void unmap(ProcessId process, std::uint64_t address, std::uint64_t size, const Cause& cause);
  void retain(ProcessId process, std::uint64_t handle, std::uint64_t address) {
    live_[process].mapped.retain(handle, address);
  }
  // Everything the process still has on that device is gone (hipDeviceReset).
  void release_device(ProcessId process, DeviceRow device, const Cause& cause);
  // There was no memory for `asked`: the holders of the memory are stored.
  void out_of_memory(ProcessId process, const Allocation& asked);
  // The runtime's answer about free and total memory.
  void told(DeviceRow device, std::uint64_t free, std::uint64_t total, const Cause& cause);
  // A call with inner calls: their allocations count for its caller.
  bool waits_for_outer() const { return !inside_.empty(); }
  void outer_call(const Cause& cause, LibraryId library);
  Place place_of(ProcessId process, std::uint64_t address) const;
  // The same if it is the host's in any case.
  Place host_place_of(ProcessId process, std::uint64_t address) const;

  // The process is gone: its allocations are written as never freed, and the driver has them back.
  void end_process(ProcessId process, std::int64_t at);
  // The process runs another program, which begins without memory.
  void exec_process(ProcessId process, std::int64_t at);
  // The recording ends: live allocations are written, and stay in use.
  void end_recording();

  void keep_rows(bool keep) { keep_rows_ = keep; }
  void end_timeline() { sums_.end_timeline(); }  // its table gets no more rows
  void set_room(Room room) { room_ = std::move(room); }
  std::uint64_t without_row() const { return without_row_; }  // never freed, and there was no room for their rows
  void flush();                                               // sums; the timeline goes to its table's rows
  const MemorySums& sums() const { return sums_; }

 private:
  using Key = std::pair<Space, std::uint64_t>;  // of physical memory: MappedMemory::Block
  struct Process {
    std::map<Key, Allocation> live;
    std::array<std::size_t, probes::kMemorySpaces> count{};  // of live
    MappedMemory mapped;
  };
  struct Inside {
    ProcessId process = 0;
    Key key;
    OomRow oom = 0;  // if it ran out of memory; 0: an allocation
  };

  AllocRow write_row(const Allocation& allocation, std::int64_t end, CallRow call_end);
  void write_live(ProcessId process, std::int64_t end);  // end: of all that is live; kNull: not freed
  void free_one(ProcessId process, const Allocation& allocation, CallRow call, std::int64_t at);
  void erase(Process& process, std::map<Key, Allocation>::iterator entry);
  void free_block(ProcessId process, MappedMemory::Block block, const Cause& cause);
  bool free_physical(ProcessId process, std::uint64_t handle, const Cause& cause);
  void remember_inside(const Cause& cause, const Inside& inside);
  static std::map<Key, Allocation>::iterator find(Process& owner, Space space, std::uint64_t address);
  const Freed* freed(ProcessId process, Space space, std::uint64_t address) const;
  const Allocation* around(ProcessId process, Space space, std::uint64_t address) const;
  Fault fault_of(ProcessId process, Space space, std::uint64_t address, const Freed*& before) const;

  std::unordered_map<ProcessId, Process> live_;
  std::unordered_multimap<CallRow, Inside> inside_;  // by the call around it, which comes later
  FreedMemory freed_;
  MemorySums sums_;
  MemoryTrouble trouble_;
  BatchTable& alloc_rows_;
  AllocRow last_alloc_;
  bool keep_rows_ = true;
  Room room_ = room_without_end;
  std::uint64_t without_row_ = 0;
  Write owner_;
};

}  // namespace fade::store
