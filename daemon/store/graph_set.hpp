// The graphs of one process, by handle, with a bound on all that is in them.
#pragma once
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "store/copy_book.hpp"
#include "store/graph_memory.hpp"
#include "store/write.hpp"

namespace fade::store {

struct GraphKernel {
  KernelRow kernel = 0;
  GeometryRow geometry = 0;
  std::uint64_t node = 0;  // hipGraphNode_t; 0: captured
  bool enabled = true;
  bool operator==(const GraphKernel&) const = default;
};

// A copy or fill that each launch of a graph does.
struct GraphCopy {
  FunctionRow function = 0;  // that put it into the graph
  std::int64_t kind = 0, bytes = 0;
  Way way;
  std::uint64_t source = 0, destination = 0;
  std::uint64_t node = 0;  // hipGraphNode_t; 0: captured
  bool operator==(const GraphCopy&) const = default;
};

// In the order in which the pieces were put in. complete: false if there are pieces that fade does not know.
struct Graph {
  std::vector<GraphKernel> kernels;
  GraphMemories memory;
  std::vector<GraphCopy> copies;
  bool complete = true;
  bool operator==(const Graph&) const = default;
  std::size_t pieces() const { return kernels.size() + memory.size() + copies.size(); }
  void forget_nodes();  // its nodes have other handles
};

class GraphSet {
 public:
  static constexpr std::size_t kMostPieces = 1'000'000;  // kernels, allocations, frees and copies in all graphs
  static constexpr std::size_t kMostGraphs = 100'000;

  // The graph of that handle. One that was made before the recording has unknown kernels. Valid until the next call.
  Graph& known(std::uint64_t handle);
  void create(std::uint64_t handle);  // 0: the call gave none
  void put(std::uint64_t handle, Graph graph) { graphs_[handle] = std::move(graph); }
  void destroy(std::uint64_t handle);

  // Each puts a piece into a graph, which becomes incomplete if there is no room. The graph need not be one of these,
  // but its pieces count. `from` may be `to`.
  void append(Graph& to, const GraphKernel& kernel) { append(to, to.kernels, kernel); }
  void append(Graph& to, const GraphMemory& memory) { append(to, to.memory, memory); }
  void append(Graph& to, const GraphCopy& copy) { append(to, to.copies, copy); }
  void append(Graph& to, const Graph& from);
  // A graph that is gone: its pieces count no more.
  void release(const Graph& graph);

  // The node has that kernel now. Of an unknown node, a captured one, it is not known in which graph it is.
  void set_kernel(std::uint64_t node, const GraphKernel& kernel);
  void remove_node(std::uint64_t node);

 private:
  template <class Piece>
  void append(Graph& to, std::vector<Piece>& pieces, const Piece& piece) {
    if (pieces_ >= kMostPieces) {
      to.complete = false;
      return;
    }
    ++pieces_;
    pieces.push_back(piece);
  }

  std::unordered_map<std::uint64_t, Graph> graphs_;
  std::size_t pieces_ = 0;  // in all of them
};

}  // namespace fade::store
