#include "store/graph_execs.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace fade::store {

void GraphExec::count(const GraphCall& launch) {
  if (launches++ == 0) first = launch.at;
  errors += launch.failed;
  ns += launch.ns;
  max = std::max(max, launch.ns);
  last = launch.at;
  changed = true;
}

GraphExecRows::GraphExecRows(sqlite::Db& db, Failure& failure)
    : last_(last_row<GraphRow>(db, "graph_")),
      graph_(db, failure, "INSERT INTO graph_ (id, process, handle, ts, kernels, complete) VALUES (?,?,?,?,?,?)"),
      kernel_(db, failure, "INSERT INTO graph_kernel_ VALUES (?,?,?,?)"),
      uses_(db, failure,
            "UPDATE graph_ SET launches = ?2, errors = ?3, launch_ns = ?4, max_ns = ?5, first_ts = ?6, last_ts = ?7 "
            "WHERE id = ?1"),
      launch_(db, failure, "INSERT INTO graph_launch_ VALUES (?,?,?)") {}

void GraphExecRows::write(GraphExec& exec, const GraphCall& call) {
  exec.row = ++last_;
  std::map<std::pair<KernelRow, GeometryRow>, std::uint64_t> counts;
  for (const GraphKernel& kernel : exec.graph.kernels) counts[{kernel.kernel, kernel.geometry}] += kernel.enabled;
  std::uint64_t total = 0;
  for (const auto& [what, n] : counts) {
    kernel_(exec.row, what.first, what.second, n);
    total += n;
  }
  exec.kernels = total;
  const std::uint64_t handle = std::max(call.made("hipGraphExec_t"), call.given("hipGraphExec_t"));
  graph_(exec.row, call.process_row, static_cast<std::int64_t>(handle), call.end, total, exec.graph.complete);
}

void GraphExecRows::write_uses(GraphExec& exec) {
  if (std::exchange(exec.changed, false))
    uses_(exec.row, exec.launches, exec.errors, exec.ns, exec.max, exec.first, exec.last);
}

void GraphExecRows::change(GraphExec& exec, Graph graph) {
  if (exec.graph == graph) return;
  write_uses(exec);
  const bool frees_first = exec.frees_first;
  exec = {};
  exec.frees_first = frees_first;
  exec.graph = std::move(graph);
}

void GraphExecRows::launched(const GraphExec& exec, const GraphCall& call) {
  if (call.stored) launch_(call.call, exec.row, unless(call.stream, 0));
}

}  // namespace fade::store
