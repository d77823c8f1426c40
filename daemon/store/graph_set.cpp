#include "store/graph_set.hpp"

#include <algorithm>

namespace fade::store {

void Graph::forget_nodes() {
  for (GraphKernel& kernel : kernels) kernel.node = 0;
  for (GraphMemory& piece : memory) piece.node = 0;
  for (GraphCopy& copy : copies) copy.node = 0;
}

Graph& GraphSet::known(std::uint64_t handle) {
  if (graphs_.size() >= kMostGraphs) graphs_.clear();
  const auto [it, is_new] = graphs_.try_emplace(handle);
  if (is_new) it->second.complete = false;
  return it->second;
}

void GraphSet::create(std::uint64_t handle) {
  if (graphs_.size() >= kMostGraphs) graphs_.clear();
  if (handle) graphs_[handle] = {};
}

void GraphSet::destroy(std::uint64_t handle) {
  const auto it = graphs_.find(handle);
  if (it == graphs_.end()) return;
  release(it->second);
  graphs_.erase(it);
}

void GraphSet::append(Graph& to, const Graph& from) {
  to.complete = to.complete && from.complete;
  const Graph pieces = from;  // may be the same graph
  for (const GraphKernel& kernel : pieces.kernels) append(to, kernel);
  for (const GraphMemory& memory : pieces.memory) append(to, memory);
  for (const GraphCopy& copy : pieces.copies) append(to, copy);
}

void GraphSet::release(const Graph& graph) { pieces_ -= std::min(pieces_, graph.pieces()); }

void GraphSet::set_kernel(std::uint64_t node, const GraphKernel& kernel) {
  for (auto& [handle, graph] : graphs_) {
    const auto it = std::ranges::find(graph.kernels, node, &GraphKernel::node);
    if (it == graph.kernels.end()) continue;
    it->kernel = kernel.kernel;
    it->geometry = kernel.geometry;
    return;
  }
  for (auto& [handle, graph] : graphs_) graph.complete = false;
}

void GraphSet::remove_node(std::uint64_t node) {
  const auto is_node = [node](const auto& piece) { return piece.node == node; };
  for (auto& [handle, graph] : graphs_) {
    pieces_ -= std::erase_if(graph.kernels, is_node);
    pieces_ -= std::erase_if(graph.memory, is_node);
    pieces_ -= std::erase_if(graph.copies, is_node);
  }
}

}  // namespace fade::store
