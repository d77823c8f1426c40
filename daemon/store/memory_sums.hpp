// How much memory is in use: by device and kind, by the libraries that called for it, and over time. The ledger tells
// each change once; sums go to their tables at flush(), the timeline as its milliseconds end.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "base/event.hpp"
#include "store/allocation.hpp"
#include "store/batch_table.hpp"
#include "store/libraries.hpp"
#include "store/memory_trouble.hpp"
#include "store/write.hpp"

namespace fade::store {

class MemorySums {
 public:
  MemorySums(sqlite::Db& db, Failure& failure, BatchTable& bucket_rows, const Libraries& libraries);

  // One allocation more, or (sign -1) one that turned out to be none.
  void count(ProcessId process, const Allocation& allocation, std::int64_t sign);
  // It was another allocation than it seemed: `correct` changes it. The sums change at `at` or later.
  template <class Correct>
  void recount(ProcessId process, Allocation& allocation, std::int64_t at, Correct&& correct) {
    const std::int64_t began = allocation.cause.at;
    count(process, allocation, -1);
    correct(allocation);
    allocation.cause.at = std::max(began, at);
    count(process, allocation, 1);
    allocation.cause.at = began;
  }
  void freed(ProcessId process, const Allocation& allocation, std::int64_t at);
  void unknown_free(ProcessId process, DeviceRow device, std::int64_t at);

  // The driver has the memory of a process back when the process ends. mem_stat_ and mem_holder_ keep the bytes that
  // it still had; the timeline falls to 0.
  void end_process(ProcessId process, std::int64_t at);
  // The process goes on, with another program and without memory.
  void exec_process(ProcessId process, std::int64_t at);
  void end_timeline() { has_timeline_ = false; }  // its table gets no more rows
  void flush();

  std::int64_t used_on(DeviceRow device, MemoryClass memory) const;  // bytes, now
  // Most bytes of device memory that were live at once, by device.
  std::vector<std::pair<DeviceRow, std::uint64_t>> peaks() const;
  struct InUse {
    std::uint64_t bytes = 0, peak = 0;  // peak: the peaks of the devices added up
  };
  InUse in_use() const;
  std::int64_t live_bytes(ProcessId process) const;  // of devices
  struct Holding {
    DeviceRow device = 0;
    MemoryKind kind = MemoryKind::Device;
    std::int64_t bytes = 0, peak = 0;
  };
  std::vector<Holding> held(ProcessId process) const;  // by that process, now

 private:
  using UseKey = std::pair<DeviceRow, MemoryKind>;
  struct Sum {
    ProcessId process = 0;
    std::int64_t used = 0, peak = 0, peak_at = 0, allocs = 0, frees = 0, bytes = 0;
    bool changed = false;
    void change(std::int64_t by, std::int64_t at);
  };
  struct Use : Sum {  // one (device, kind)
    std::int64_t unknown_frees = 0;
    std::int64_t ms = 0, ms_peak = 0, ms_allocs = 0, ms_frees = 0;  // the open bucket of the timeline
    bool ms_changed = false;
  };
  struct HolderKey {
    DeviceRow device = 0;
    MemoryClass memory{};
    LibraryId library = Libraries::kAll;
    auto operator<=>(const HolderKey&) const = default;
  };
  struct LastHolder {
    HolderKey key;
    Sum* sum = nullptr;
  };
  struct Peak {
    std::int64_t used = 0, peak = 0;
  };

  Use& use_at(ProcessId process, DeviceRow device, MemoryKind kind, std::int64_t at);
  Sum& holder(ProcessId process, const HolderKey& key);
  void change(ProcessId process, const Allocation& allocation, std::int64_t sign, std::int64_t at);
  template <class Change>
  void for_holders(ProcessId process, const Allocation& allocation, Change&& change);
  void close_bucket(const UseKey& key, Use& use);
  void fall_to_nothing(const UseKey& key, Use& use, std::int64_t at);
  void write_use(const UseKey& key, Use& use);
  void write_holder(const HolderKey& key, Sum& sum);
  void forget_last();

  const Libraries& libraries_;
  std::map<UseKey, Use> uses_;
  std::map<HolderKey, Sum> holders_;
  // Most calls are like the one before.
  UseKey last_use_key_;
  Use* last_use_ = nullptr;
  std::array<LastHolder, 2> last_holders_;  // of a library, of all
  std::map<DeviceRow, Peak> devices_;       // outlive their processes
  BatchTable& bucket_rows_;                 // of the timeline
  bool has_timeline_ = true;
  Write stat_, holder_;
};

}  // namespace fade::store
