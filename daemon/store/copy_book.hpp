// Copies and fills by way, memory of the host's side and size; and buffers that go back and forth between the same two
// addresses. Bounded, whatever the program does.
#pragma once
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "store/alike_calls.hpp"
#include "store/memory_ledger.hpp"
#include "store/recent_map.hpp"
#include "store/rollups.hpp"
#include "store/write.hpp"

namespace fade::store {

// copy_.kind: hipMemcpyKind, and -1 of fills.
namespace copy_kind {
inline constexpr std::int64_t kFill = -1, kHostToHost = 0, kHostToDevice = 1, kDeviceToHost = 2, kDeviceToDevice = 3,
                              kDefault = 4, kDeviceToDeviceNoCu = 1024, kUnknown = -2;
}

// The side of the host. copy_.memory, copy_size_.memory; none: both sides are devices, or their places are unknown.
enum class HostSide : std::uint8_t { None, Pageable, Pinned, Managed };

struct Way {
  std::int64_t kind = 4;  // hipMemcpyKind, -1 of fills; 4 (default) only if the ledger does not know it either
  HostSide host = HostSide::None;

  bool operator==(const Way&) const = default;
};
// The way of a copy of this kind between these places. An address unknown to the ledger is the host's pageable memory
// if the call or the other side shows that it is the host's.
Way way_of(std::int64_t kind, Place source, Place destination);

struct Copied {
  ProcessRow process = 0;
  FunctionRow function = 0;
  CallRow call = 0;
  Way way;
  std::int64_t bytes = 0, ns = 0, at = 0;
  std::uint64_t source = 0, destination = 0;
};

class CopyBook {
 public:
  static constexpr std::size_t kPairs = 1024;

  CopyBook(sqlite::Db& db, Failure& failure);

  void add(const Copied& copied);
  void add(Copied copied, const AlikeCalls& more);  // more copies like that one
  void launch(ProcessRow process, std::uint64_t kernels) { launches_of(process) += kernels; }
  void end_process(ProcessRow process);
  void flush();

 private:
  struct SizeKey {
    ProcessRow process = 0;
    FunctionRow function = 0;
    std::int8_t kind = 0;
    HostSide host{};
    std::uint8_t bucket = 0;
    bool operator==(const SizeKey&) const = default;
  };
  struct Hash {
    std::size_t operator()(const SizeKey& k) const {
      return mix(static_cast<std::uint64_t>(k.process.value()) << 40 ^
                 static_cast<std::uint64_t>(k.function.value()) << 16 ^ static_cast<std::uint64_t>(k.kind + 1) << 12 ^
                 static_cast<std::uint64_t>(k.host) << 8 ^ k.bucket);
    }
    static std::size_t mix(std::uint64_t h) {
      h *= 0x9E3779B97F4A7C15u;
      return h ^ (h >> 29);
    }
  };
  struct Sizes {
    std::uint64_t n = 0, bytes = 0;
    std::int64_t max = 0, ns = 0;
  };
  struct Pair {  // a device address and the host's that it was copied from last
    ProcessRow process = 0;
    std::uint64_t device = 0, host = 0;
    std::int64_t bytes = 0;
    bool down = false;  // came back since it went up
    std::uint64_t launches_at_up = 0;
    std::int64_t trips = 0, launches = 0, ns = 0, first = 0, last = 0;
    std::int64_t open_ns = 0, open_at = 0;  // of the trip that is under way
    CallRow call = 0;
    int worth = 0;  // of its place in the table: rises with each trip, falls with each other pair that comes there
    bool changed = false;
  };

  void add_up(const Copied& copied, std::uint64_t copies, std::int64_t ns);
  void go(const Copied& copied);
  void up(const Copied& copied);
  void down(const Copied& copied);
  Pair& place_of(const Copied& copied, std::uint64_t device) {
    return pairs_[Hash::mix(device ^ static_cast<std::uint64_t>(copied.process.value()) << 48) % kPairs];
  }
  std::uint64_t& launches_of(ProcessRow process) {
    if (process != last_process_) {
      last_process_ = process;
      last_launches_ = &launches_[process];
    }
    return *last_launches_;
  }
  void write_pair(Pair& pair);

  RecentMap<SizeKey, Sizes, Hash> sizes_;  // since the last flush
  std::vector<Pair> pairs_{kPairs};
  std::unordered_map<ProcessRow, std::uint64_t> launches_;  // by process
  ProcessRow last_process_ = 0;                             // most launches are of the process of the one before
  std::uint64_t* last_launches_ = nullptr;
  Write size_, trip_;
};

}  // namespace fade::store
