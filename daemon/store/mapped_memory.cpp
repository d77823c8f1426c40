#include "store/mapped_memory.hpp"

namespace fade::store {

MappedMemory::Block MappedMemory::create(std::uint64_t handle) {
  blocks_[handle] = ++last_;
  uses_[last_].handle = handle;
  return last_;
}

void MappedMemory::map(std::uint64_t address, std::uint64_t size, std::uint64_t handle) {
  const auto found = blocks_.find(handle);
  if (found == blocks_.end()) return;
  if (mappings_.insert_or_assign(address, Mapping{size, found->second}).second) ++uses_[found->second].mappings;
}

void MappedMemory::retain(std::uint64_t handle, std::uint64_t address) {
  const auto block = block_at(address);
  if (!block) return;
  blocks_[handle] = *block;
  Use& use = uses_[*block];
  use.handle = handle;
  ++use.handles;
}

MappedMemory::Released MappedMemory::release(std::uint64_t handle) {
  const auto found = blocks_.find(handle);
  if (found == blocks_.end()) return {};
  const Block block = found->second;
  Use& use = uses_[block];
  if (--use.handles > 0) return {.known = true, .gone = {}};
  blocks_.erase(found);
  if (use.mappings > 0) return {.known = true, .gone = {}};
  uses_.erase(block);
  return {.known = true, .gone = block};
}

std::vector<MappedMemory::Block> MappedMemory::unmap(std::uint64_t address, std::uint64_t size) {
  std::vector<Block> gone;
  for (auto at = mappings_.lower_bound(address); at != mappings_.end() && at->first - address < size;) {
    const Block block = at->second.block;
    at = mappings_.erase(at);
    const auto use = uses_.find(block);
    if (use == uses_.end() || --use->second.mappings > 0 || use->second.handles > 0) continue;
    uses_.erase(use);
    gone.push_back(block);
  }
  return gone;
}

void MappedMemory::forget(Block block) {
  const auto use = uses_.find(block);
  if (use == uses_.end()) return;
  if (const auto named = blocks_.find(use->second.handle); named != blocks_.end() && named->second == block)
    blocks_.erase(named);
  std::erase_if(mappings_, [&](const auto& entry) { return entry.second.block == block; });
  uses_.erase(use);
}

std::optional<MappedMemory::Block> MappedMemory::block_at(std::uint64_t address) const {
  const auto after = mappings_.upper_bound(address);
  if (after == mappings_.begin()) return std::nullopt;
  const auto& [start, mapping] = *std::prev(after);
  if (address - start >= mapping.size) return std::nullopt;
  return mapping.block;
}

}  // namespace fade::store
