// The executable graphs (hipGraphExec_t) of all processes as rows: one for each set of kernels that a handle had, with
// the kernels and the sums of its launches.
#pragma once
#include <cstdint>

#include "store/graph_call.hpp"
#include "store/graph_set.hpp"
#include "store/write.hpp"

namespace fade::store {

struct GraphExec {
  Graph graph;
  bool frees_first = false;   // hipGraphInstantiateFlagAutoFreeOnLaunch
  GraphRow row = 0;           // 0: none for its present kernels
  std::uint64_t kernels = 0;  // that one launch runs; known if there is a row
  std::uint64_t launches = 0, errors = 0;
  std::int64_t ns = 0, max = 0, first = 0, last = 0;
  bool changed = false;

  // Kernels that a launch gives to the GPU. A graph of which no kernel is known counts as one.
  std::uint64_t given() const { return kernels == 0 && !graph.complete ? 1 : kernels; }
  void count(const GraphCall& launch);
};

class GraphExecRows {
 public:
  GraphExecRows(sqlite::Db& db, Failure& failure);

  // A row for its present kernels.
  void write(GraphExec& exec, const GraphCall& call);
  // The sums of its launches, if they have changed.
  void write_uses(GraphExec& exec);
  // The executable graph had other kernels until now: they keep their row, the next launch gets a new one.
  void change(GraphExec& exec, Graph graph);
  // The row must be there.
  void launched(const GraphExec& exec, const GraphCall& call);

 private:
  GraphRow last_;
  Write graph_, kernel_, uses_, launch_;
};

}  // namespace fade::store
