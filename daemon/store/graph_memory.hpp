// Memory that a graph allocates and frees when it is launched: the data of its nodes, and the effect of a launch.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "store/allocation.hpp"
#include "store/call_view.hpp"

namespace fade::store {

// One piece of a graph. An allocation has the same address in every launch.
struct GraphMemory {
  Allocation allocation;  // for a free, only its address counts
  bool frees = false;
  std::uint64_t node = 0;  // hipGraphNode_t; 0: captured

  bool operator==(const GraphMemory& o) const {
    return frees == o.frees && allocation.address == o.allocation.address && allocation.bytes == o.allocation.bytes &&
           allocation.device == o.allocation.device;
  }
};

// In the order in which they were put into the graph, which their dependencies allow.
using GraphMemories = std::vector<GraphMemory>;

// The node that hipGraphAddMemAllocNode, hipGraphAddMemFreeNode or hipGraphAddNode puts in; nullopt if it is another
// kind of node.
struct MemoryNode {
  std::uint64_t address = 0, bytes = 0;
  int device = 0;  // ordinal
  bool frees = false;
};
std::optional<MemoryNode> memory_node(const CallView& view);

// The most that one launch has allocated at once, as far as its order shows.
std::uint64_t most_at_once(const GraphMemories& memories);

}  // namespace fade::store
