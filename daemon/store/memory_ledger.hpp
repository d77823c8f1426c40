// What each process has allocated and not freed, and how much that was over time. One row per allocation when it is
// freed or when the process ends; memory is bounded by what is live. Children of fork begin empty.
#pragma once
#include <cstdint>
#include <limits>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/event.hpp"
#include "store/batch_table.hpp"
#include "store/write.hpp"

namespace fade::store {

using DeviceRow = std::int64_t;  // device_.id

enum class MemoryKind : std::uint8_t { Device, Host, Managed };  // alloc_.kind

struct Allocation {
  std::uint64_t bytes = 0;
  DeviceRow device = 0;
  MemoryKind kind = MemoryKind::Device;
  std::int64_t call = 0;  // call_.id
  std::int64_t at = 0;
};

class MemoryLedger {
 public:
  MemoryLedger(sqlite::Db& db, Failure& failure, BatchTable& alloc_rows, std::int64_t last_alloc_id);

  void allocate(ProcessId process, std::uint64_t address, const Allocation& allocation);
  // A free of an address that is not known is counted for `device`.
  void release(ProcessId process, std::uint64_t address, std::int64_t call, std::int64_t at, DeviceRow device);
  // Everything the process still has on that device is gone (hipDeviceReset).
  void release_device(ProcessId process, DeviceRow device, std::int64_t call, std::int64_t at);
  // The process is gone: what it had is written as never freed, and the driver has it back.
  void end_process(ProcessId process, std::int64_t at);
  // The process runs another program, which begins with nothing.
  void exec_process(ProcessId process, std::int64_t at);
  // The recording ends: what is live is written, and stays in use.
  void end_recording();

  void keep_rows(bool keep) { keep_rows_ = keep; }
  void flush();  // timeline and sums
  // Most bytes of device and managed memory that were live at once, by device.
  std::vector<std::pair<DeviceRow, std::uint64_t>> peaks() const;
  struct InUse {
    std::uint64_t bytes = 0, peak = 0;  // peak: the peaks of the devices added up
  };
  InUse in_use() const;
  struct Held {
    DeviceRow device = 0;
    MemoryKind kind = MemoryKind::Device;
    std::int64_t bytes = 0, peak = 0;
  };
  std::vector<Held> held(ProcessId process) const;  // by that process, now

 private:
  using UseKey = std::pair<DeviceRow, MemoryKind>;
  struct Use {  // one (device, kind)
    ProcessId process = 0;
    std::int64_t used = 0, peak = 0, peak_at = 0, allocs = 0, frees = 0, bytes = 0, unknown_frees = 0;
    std::int64_t ms = 0, ms_peak = 0, ms_allocs = 0, ms_frees = 0;  // the open bucket of the timeline
    bool changed = false, ms_changed = false;
  };
  struct Device {
    std::int64_t used = 0, peak = 0;
  };

  Use& use_at(ProcessId process, DeviceRow device, MemoryKind kind, std::int64_t at);
  void change(Use& use, const Allocation& allocation, std::int64_t sign, std::int64_t at);
  void close_bucket(const UseKey& key, Use& use);
  void fall_to_nothing(const UseKey& key, Use& use, std::int64_t at);
  void write_sums(const UseKey& key, Use& use);
  void write_row(std::uint64_t address, const Allocation& allocation, std::int64_t end, std::int64_t call_end);
  void write_live(ProcessId process);
  void free_one(ProcessId process, std::uint64_t address, const Allocation& allocation, std::int64_t call, std::int64_t at);

  std::unordered_map<ProcessId, std::unordered_map<std::uint64_t, Allocation>> live_;
  std::map<UseKey, Use> uses_;
  std::map<DeviceRow, Device> devices_;
  BatchTable& alloc_rows_;
  std::int64_t last_alloc_id_;
  bool keep_rows_ = true;
  Write bucket_, stat_;
};

}  // namespace fade::store
