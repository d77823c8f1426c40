// Virtual memory management of one process. Physical blocks have a counted handle, and live until its last release and
// the end of their last mapping. The value of a handle may then name another block while the old one is mapped.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

namespace fade::store {

class MappedMemory {
 public:
  using Block = std::uint64_t;  // never used again

  Block create(std::uint64_t handle);
  void map(std::uint64_t address, std::uint64_t size, std::uint64_t handle);
  void retain(std::uint64_t handle, std::uint64_t address);  // one more handle for the mapping there
  struct Released {
    bool known = false;
    std::optional<Block> gone;
  };
  Released release(std::uint64_t handle);
  // Unmaps everything inside; returns the blocks that are gone by that.
  std::vector<Block> unmap(std::uint64_t address, std::uint64_t size);
  void forget(Block block);
  std::optional<Block> block_at(std::uint64_t address) const;

 private:
  struct Use {
    std::uint64_t handle = 0;
    std::uint32_t handles = 1, mappings = 0;
  };
  struct Mapping {
    std::uint64_t size = 0;
    Block block = 0;
  };

  std::unordered_map<std::uint64_t, Block> blocks_;  // by handle, while it is not released
  std::unordered_map<Block, Use> uses_;
  std::map<std::uint64_t, Mapping> mappings_;  // by address
  Block last_ = 0;
};

}  // namespace fade::store
