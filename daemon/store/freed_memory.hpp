// The newest frees, by process and value: what a second free of the same was freed by. Bounded: the oldest are forgotten.
#pragma once
#include <cstdint>
#include <unordered_map>
#include <utility>

#include "base/event.hpp"
#include "store/memory_actions.hpp"

namespace fade::store {

struct Freed {
  std::int64_t alloc = 0;      // alloc_.id
  std::int64_t call = 0;       // that freed it; null of BatchTable where it was not seen
};

class FreedMemory {
 public:
  static constexpr std::size_t kMost = 1 << 16;  // at most twice as many are known

  void add(ProcessId process, Space space, std::uint64_t address, const Freed& freed) {
    if (newer_.size() >= kMost) {
      older_ = std::move(newer_);
      newer_.clear();
    }
    newer_[{process, space, address}] = freed;
  }
  const Freed* find(ProcessId process, Space space, std::uint64_t address) const {
    for (const Map* map : {&newer_, &older_})
      if (const auto found = map->find({process, space, address}); found != map->end()) return &found->second;
    return nullptr;
  }

 private:
  struct Key {
    ProcessId process = 0;
    Space space{};
    std::uint64_t address = 0;
    bool operator==(const Key&) const = default;
  };
  struct Hash {
    std::size_t operator()(const Key& k) const {
      const std::uint64_t h = (k.address ^ std::uint64_t{k.process} << 40 ^ static_cast<std::uint64_t>(k.space) << 60) * 0x9E3779B97F4A7C15u;
      return h ^ (h >> 29);
    }
  };
  using Map = std::unordered_map<Key, Freed, Hash>;
  Map newer_, older_;
};

}  // namespace fade::store
