// Streams by process and handle, each with one row and with how often it was used. A handle that is created again
// is another stream.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>

#include "base/event.hpp"
#include "store/memory_ledger.hpp"
#include "store/rollups.hpp"
#include "store/write.hpp"

namespace fade::store {

// Values of hipStream_t that are no objects.
inline constexpr std::uint64_t kNullStream = 0, kLegacyStream = 1, kPerThreadStream = 2;

class StreamBook {
 public:
  struct Stream {
    StreamRow row = 0;
    DeviceRow device = 0;
    std::uint64_t launches = 0, copies = 0, syncs = 0;
    bool changed = false;
  };

  StreamBook(sqlite::Db& db, Failure& failure);

  // The arguments of hipStreamCreate and related functions.
  struct Options {
    std::optional<std::int64_t> flags, priority;
    std::string cu_mask;  // hexadecimal; empty: none
  };
  // The user of a stream: the default streams differ by device, and the per-thread one by thread.
  struct User {
    ProcessRow process = 0;
    ThreadRow thread = 0;
    DeviceRow device = 0;
    std::int64_t at = 0;
  };

  void create(const User& user, std::uint64_t handle, const Options& options);
  void destroy(ProcessRow process, std::uint64_t handle, std::int64_t at);
  // Streams that were there before the recording, and the default streams, get their row at first use.
  Stream& used(const User& user, std::uint64_t handle);
  // The device of a stream that was created or used; 0 if it is not known.
  DeviceRow device_of(ProcessRow process, std::uint64_t handle) const;
  void end_process(ProcessRow process);
  void flush();
  // changes if a pointer to a stream is no longer valid, or its handle means another stream
  std::uint64_t forgotten() const { return forgotten_; }

 private:
  // Most uses are of a few streams. Pointers to streams are valid until the streams are destroyed.
  struct Recent {
    ProcessRow process = 0;
    std::uint64_t key = 0;
    Stream* stream = nullptr;
  };
  static constexpr int kRecentBits = 4;
  Recent& recent(std::uint64_t key) { return recent_[key * 0x9E3779B97F4A7C15u >> (64 - kRecentBits)]; }
  Stream& known(const User& user, std::uint64_t handle, std::uint64_t key);
  void write_uses(Stream& stream);

  std::unordered_map<ProcessRow, std::unordered_map<std::uint64_t, Stream>> streams_;
  std::array<Recent, std::size_t{1} << kRecentBits> recent_{};
  std::uint64_t forgotten_ = 0;
  StreamRow last_;
  Write insert_, options_, end_, uses_;
};

}  // namespace fade::store
