// Streams by process and handle, each with one row and with how often it was used. A handle that is created again
// is another stream.
#pragma once
#include <cstdint>
#include <unordered_map>

#include "base/event.hpp"
#include "store/memory_ledger.hpp"
#include "store/rollups.hpp"
#include "store/write.hpp"

namespace fade::store {

class StreamBook {
 public:
  struct Stream {
    RowId row = 0;
    DeviceRow device = 0;
    std::uint64_t launches = 0, copies = 0, syncs = 0;
    bool changed = false;
  };

  StreamBook(sqlite::Db& db, Failure& failure);

  void create(RowId process, std::uint64_t handle, DeviceRow device, std::int64_t at);
  void destroy(RowId process, std::uint64_t handle, std::int64_t at);
  // Streams that were there before the recording, and the null stream, get their row at first use.
  Stream& used(RowId process, std::uint64_t handle, DeviceRow device, std::int64_t at);
  // Of a stream that was created or used; 0 where it is not known.
  DeviceRow device_of(RowId process, std::uint64_t handle) const;
  void end_process(RowId process);
  void flush();

 private:
  void write_uses(Stream& stream);

  std::unordered_map<RowId, std::unordered_map<std::uint64_t, Stream>> streams_;
  RowId last_;
  Write insert_, end_, uses_;
};

}  // namespace fade::store
