// The memory of devices that one program has allocated since it is watched, for the limit of less-memory=. Bounded.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <unordered_map>

namespace fade::probes {

class HeldMemory {
 public:
  void allocate(int device, std::uint64_t address, std::uint64_t bytes) {
    release(address);
    if (blocks_.size() >= kMost) return;
    blocks_[address] = {device, bytes};
    used_[device] += bytes;
  }
  void release(std::uint64_t address) {
    const auto found = blocks_.find(address);
    if (found == blocks_.end()) return;
    used_[found->second.device] -= found->second.bytes;
    blocks_.erase(found);
  }
  std::uint64_t used(int device) const {
    const auto found = used_.find(device);
    return found == used_.end() ? 0 : found->second;
  }

 private:
  static constexpr std::size_t kMost = 1'000'000;
  struct Block {
    int device = -1;
    std::uint64_t bytes = 0;
  };

  std::unordered_map<std::uint64_t, Block> blocks_;  // by address
  std::map<int, std::uint64_t> used_;                // by device
};

}  // namespace fade::probes
