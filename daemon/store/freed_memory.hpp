// Frees by process and value: the first free of a value that is freed twice. A table of fixed size, in which a newer
// free may take the place of an older one.
#pragma once
#include <cstdint>
#include <vector>

#include "base/event.hpp"
#include "probes/memory_action.hpp"
#include "store/row_ids.hpp"

namespace fade::store {

using Space = probes::MemorySpace;

struct Freed {
  AllocRow alloc = 0;
  CallRow call = 0;  // that freed it; 0: it was not seen
};

class FreedMemory {
 public:
  static constexpr std::size_t kMost = 1 << 15;

  void add(ProcessId process, Space space, std::uint64_t address, const Freed& freed) {
    if (places_.empty()) places_.resize(kMost);
    places_[place_of(process, space, address)] = {address, freed, process, space};
  }
  const Freed* find(ProcessId process, Space space, std::uint64_t address) const {
    if (places_.empty()) return nullptr;
    const Entry& entry = places_[place_of(process, space, address)];
    return entry.process == process && entry.space == space && entry.address == address ? &entry.freed : nullptr;
  }

 private:
  struct Entry {
    std::uint64_t address = 0;
    Freed freed;
    ProcessId process = 0;
    Space space{};
  };
  static std::size_t place_of(ProcessId process, Space space, std::uint64_t address) {
    const std::uint64_t h = (address ^ std::uint64_t{process.value()} << 40 ^ static_cast<std::uint64_t>(space) << 60) *
                            0x9E3779B97F4A7C15u;
    return (h ^ h >> 29) % kMost;
  }
  std::vector<Entry> places_;
};

}  // namespace fade::store
