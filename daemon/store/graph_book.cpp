#include "store/graph_book.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace fade::store {
namespace {

constexpr std::size_t kMostPieces = 1'000'000;  // kernels, allocations and frees in the graphs of one process
constexpr std::size_t kMostObjects = 100'000;   // graphs and executable graphs of one process

std::string_view without_suffix(std::string_view symbol) {
  constexpr std::string_view kPerThread = "_spt";
  if (symbol.ends_with(kPerThread)) symbol.remove_suffix(kPerThread.size());
  return symbol;
}

// A capture that ended without a graph: hipErrorStreamCaptureInvalidated, ...Unjoined.
constexpr std::int64_t kEndedWithoutGraph[] = {901, 904};

constexpr std::uint64_t kAutoFreeOnLaunch = 1;

}  // namespace

std::uint64_t GraphCall::given(std::string_view type, std::size_t nth) const {
  for (const probes::Parameter& parameter : view.probe.parameters)
    if (parameter.type.name == type && parameter.pointee.cls == probes::TypeClass::Void && nth-- == 0)
      return probes::argument(view.probe, parameter, view.record, view.payload);
  return 0;
}

std::uint64_t GraphCall::made(std::string_view type) const {
  for (const probes::Parameter& parameter : view.probe.parameters) {
    if (parameter.pointee.name != type || !parameter.read_at_return()) continue;
    const auto piece = view.piece(PieceKind::Out, probes::index_of(view.probe, parameter));
    std::uint64_t handle = 0;
    if (!piece || piece->bytes.size() < sizeof handle) return 0;
    std::memcpy(&handle, piece->bytes.data(), sizeof handle);
    return handle;
  }
  return 0;
}

const GraphBook::Row GraphBook::kRows[] = {
    {"hipGraphLaunch", &GraphBook::launch, false},
    {"hipStreamBeginCapture", &GraphBook::begin, false},
    {"hipStreamBeginCaptureToGraph", &GraphBook::begin, false},
    {"hipStreamEndCapture", &GraphBook::end, false},
    {"hipEventRecord", &GraphBook::record, false},
    {"hipEventRecordWithFlags", &GraphBook::record, false},
    {"hipStreamWaitEvent", &GraphBook::wait, false},
    {"hipGraphCreate", &GraphBook::create, false},
    {"hipGraphClone", &GraphBook::clone, false},
    {"hipGraphDestroy", &GraphBook::destroy, false},
    {"hipGraphAddKernelNode", &GraphBook::add, true},
    {"hipGraphAddNode", &GraphBook::add, true},
    {"hipGraphAddMemAllocNode", &GraphBook::add_memory, false},
    {"hipGraphAddMemFreeNode", &GraphBook::add_memory, false},
    {"hipDrvGraphAddMemFreeNode", &GraphBook::add_memory, false},
    {"hipGraphAddMemcpyNode", &GraphBook::add_copy, false},
    {"hipGraphAddMemcpyNode1D", &GraphBook::add_copy, false},
    {"hipGraphAddMemcpyNodeFromSymbol", &GraphBook::add_copy, false},
    {"hipGraphAddMemcpyNodeToSymbol", &GraphBook::add_copy, false},
    {"hipDrvGraphAddMemcpyNode", &GraphBook::add_copy, false},
    {"hipGraphAddMemsetNode", &GraphBook::add_copy, false},
    {"hipDrvGraphAddMemsetNode", &GraphBook::add_copy, false},
    {"hipGraphAddChildGraphNode", &GraphBook::add_child, false},
    {"hipGraphKernelNodeSetParams", &GraphBook::set, true},
    {"hipGraphNodeSetParams", &GraphBook::set, true},
    {"hipGraphDestroyNode", &GraphBook::remove, false},
    {"hipGraphInstantiate", &GraphBook::instantiate, false},
    {"hipGraphInstantiateWithFlags", &GraphBook::instantiate, false},
    {"hipGraphInstantiateWithParams", &GraphBook::instantiate, false},
    {"hipGraphExecUpdate", &GraphBook::update, false},
    {"hipGraphExecKernelNodeSetParams", &GraphBook::set_in_exec, true},
    {"hipGraphExecNodeSetParams", &GraphBook::set_in_exec, true},
    {"hipGraphExecChildGraphNodeSetParams", &GraphBook::child_in_exec, false},
    {"hipGraphNodeSetEnabled", &GraphBook::enable, false},
    {"hipGraphExecDestroy", &GraphBook::destroy_exec, false},
};

GraphBook::GraphBook(sqlite::Db& db, Failure& failure)
    : last_(db.integer("SELECT max(id) FROM graph_").value_or(0)),
      graph_(db, failure, "INSERT INTO graph_ (id, process, handle, ts, kernels, complete) VALUES (?,?,?,?,?,?)"),
      kernel_(db, failure, "INSERT INTO graph_kernel_ VALUES (?,?,?,?)"),
      uses_(db, failure,
            "UPDATE graph_ SET launches = ?2, errors = ?3, launch_ns = ?4, max_ns = ?5, first_ts = ?6, last_ts = ?7 "
            "WHERE id = ?1"),
      launch_(db, failure, "INSERT INTO graph_launch_ VALUES (?,?,?)") {}

const GraphBook::Row* GraphBook::row_of(std::string_view symbol) {
  const auto* row = std::ranges::find(kRows, without_suffix(symbol), &Row::symbol);
  return row == std::end(kRows) ? nullptr : row;
}

bool GraphBook::names_kernels(std::string_view symbol) {
  const Row* row = row_of(symbol);
  return row && row->names_kernels;
}

bool GraphBook::adds_copy(std::string_view symbol) {
  const Row* row = row_of(symbol);
  return row && row->action == &GraphBook::add_copy;
}

bool GraphBook::call(const GraphCall& call) {
  const Row* row = row_of(call.view.probe.symbol);
  ran_ = false;
  launched_ = {};
  launched_kernels_ = 0;
  launched_copies_ = nullptr;
  if (!row || (call.failed && row->action != &GraphBook::launch && row->action != &GraphBook::end)) return false;
  (this->*row->action)(processes_[call.process], call);
  return ran_;
}

// ---------------------------------------------------------------- captures

GraphBook::Capture* GraphBook::capture_of(Process& process, std::uint64_t stream) {
  const auto it = std::ranges::find_if(process.captures, [&](const Capture& c) { return c.streams.contains(stream); });
  return it == process.captures.end() ? nullptr : &*it;
}

bool GraphBook::capture(ProcessId process, std::uint64_t stream, const GraphKernel& kernel) {
  if (capturing_ == 0) return false;
  Process& of = processes_[process];
  Capture* capture = capture_of(of, stream);
  if (capture) append(of, capture->graph, kernel);
  return capture != nullptr;
}

bool GraphBook::captures(ProcessId process, std::uint64_t stream) const {
  if (capturing_ == 0) return false;
  const auto of = processes_.find(process);
  return of != processes_.end() &&
         std::ranges::any_of(of->second.captures, [&](const Capture& c) { return c.streams.contains(stream); });
}

void GraphBook::capture_memory(ProcessId process, std::uint64_t stream, const GraphMemory& memory) {
  Process& of = processes_[process];
  if (Capture* capture = capture_of(of, stream)) append(of, capture->graph, memory);
}

void GraphBook::capture_copy(ProcessId process, std::uint64_t stream, const GraphCopy& copy) {
  Process& of = processes_[process];
  if (Capture* capture = capture_of(of, stream)) append(of, capture->graph, copy);
}

void GraphBook::begin(Process& process, const GraphCall& call) {
  if (process.captures.size() >= kMostObjects) return;
  const std::uint64_t stream = call.given("hipStream_t");
  Capture& capture = process.captures.emplace_back();
  capture.into = call.given("hipGraph_t");
  capture.origin = stream;
  capture.streams.insert(stream);
  ++capturing_;
}

void GraphBook::end(Process& process, const GraphCall& call) {
  const std::uint64_t stream = call.given("hipStream_t");
  const auto it = std::ranges::find(process.captures, stream, &Capture::origin);
  if (call.failed && std::ranges::find(kEndedWithoutGraph, call.view.result()) == std::end(kEndedWithoutGraph)) return;
  const std::uint64_t handle = call.failed ? 0 : call.made("hipGraph_t");
  if (it == process.captures.end()) {  // it began before the recording
    if (handle) known(process, handle).complete = false;
    return;
  }
  if (handle && it->into) append(process, known(process, handle), it->graph);
  else if (handle) process.graphs[handle] = std::move(it->graph);
  process.captures.erase(it);
  --capturing_;
}

// An event that is recorded in a capture leads its waiters into the capture.
void GraphBook::record(Process& process, const GraphCall& call) {
  const std::uint64_t event = call.given("hipEvent_t");
  for (Capture& capture : process.captures) capture.events.erase(event);
  if (Capture* capture = capture_of(process, call.given("hipStream_t"));
      capture && capture->events.size() < kMostObjects)
    capture->events.insert(event);
}

void GraphBook::wait(Process& process, const GraphCall& call) {
  for (Capture& capture : process.captures)
    if (capture.events.contains(call.given("hipEvent_t")) && capture.streams.size() < kMostObjects)
      capture.streams.insert(call.given("hipStream_t"));
}

// ---------------------------------------------------------------- graphs

// A graph that was made before the recording has unknown kernels.
GraphBook::Graph& GraphBook::known(Process& process, std::uint64_t graph) {
  if (process.graphs.size() >= kMostObjects) process.graphs.clear();
  const auto [it, is_new] = process.graphs.try_emplace(graph);
  if (is_new) it->second.complete = false;
  return it->second;
}

bool GraphBook::has_room(Process& process, Graph& to) {
  if (process.pieces < kMostPieces) return true;
  to.complete = false;
  return false;
}

void GraphBook::append(Process& process, Graph& to, const GraphKernel& kernel) {
  if (!has_room(process, to)) return;
  ++process.pieces;
  to.kernels.push_back(kernel);
}

void GraphBook::append(Process& process, Graph& to, const GraphMemory& memory) {
  if (!has_room(process, to)) return;
  ++process.pieces;
  to.memory.push_back(memory);
}

void GraphBook::append(Process& process, Graph& to, const GraphCopy& copy) {
  if (!has_room(process, to)) return;
  ++process.pieces;
  to.copies.push_back(copy);
}

void GraphBook::Graph::forget_nodes() {
  for (GraphKernel& kernel : kernels) kernel.node = 0;
  for (GraphMemory& piece : memory) piece.node = 0;
  for (GraphCopy& copy : copies) copy.node = 0;
}

void GraphBook::append(Process& process, Graph& to, const Graph& from) {
  to.complete = to.complete && from.complete;
  const std::vector<GraphKernel> kernels = from.kernels;  // may be the same graph
  const GraphMemories memories = from.memory;
  const std::vector<GraphCopy> copies = from.copies;
  for (const GraphKernel& kernel : kernels) append(process, to, kernel);
  for (const GraphMemory& memory : memories) append(process, to, memory);
  for (const GraphCopy& copy : copies) append(process, to, copy);
}

void GraphBook::create(Process& process, const GraphCall& call) {
  if (process.graphs.size() >= kMostObjects) process.graphs.clear();
  if (const std::uint64_t graph = call.made("hipGraph_t")) process.graphs[graph] = {};
}

void GraphBook::clone(Process& process, const GraphCall& call) {
  Graph copy;
  append(process, copy, known(process, call.given("hipGraph_t")));
  copy.forget_nodes();
  if (const std::uint64_t graph = call.made("hipGraph_t")) process.graphs[graph] = std::move(copy);
}

void GraphBook::destroy(Process& process, const GraphCall& call) {
  const auto it = process.graphs.find(call.given("hipGraph_t"));
  if (it == process.graphs.end()) return;
  process.pieces -= std::min(process.pieces, it->second.pieces());
  process.graphs.erase(it);
}

void GraphBook::add(Process& process, const GraphCall& call) {
  Graph& graph = known(process, call.given("hipGraph_t"));
  for (GraphKernel kernel : call.kernels) {
    kernel.node = call.made("hipGraphNode_t");
    append(process, graph, kernel);
  }
  add_memory(process, call);
}

void GraphBook::add_memory(Process& process, const GraphCall& call) {
  if (!call.memory) return;
  GraphMemory memory = *call.memory;
  memory.node = call.made("hipGraphNode_t");
  append(process, known(process, call.given("hipGraph_t")), memory);
}

void GraphBook::add_copy(Process& process, const GraphCall& call) {
  if (!call.copy) return;
  GraphCopy copy = *call.copy;
  copy.node = call.made("hipGraphNode_t");
  append(process, known(process, call.given("hipGraph_t")), copy);
}

void GraphBook::add_child(Process& process, const GraphCall& call) {
  Graph child;
  append(process, child, known(process, call.given("hipGraph_t", 1)));
  child.forget_nodes();
  append(process, known(process, call.given("hipGraph_t")), child);
}

void GraphBook::set(Process& process, const GraphCall& call) {
  const std::uint64_t node = call.given("hipGraphNode_t");
  if (call.kernels.empty()) return;
  for (auto& [handle, graph] : process.graphs)
    for (GraphKernel& kernel : graph.kernels)
      if (kernel.node == node) {
        kernel.kernel = call.kernels[0].kernel;
        kernel.geometry = call.kernels[0].geometry;
        return;
      }
  for (auto& [handle, graph] : process.graphs) graph.complete = false;  // a captured node: which one is not known
}

void GraphBook::remove(Process& process, const GraphCall& call) {
  const std::uint64_t node = call.given("hipGraphNode_t");
  for (auto& [handle, graph] : process.graphs) {
    process.pieces -= std::erase_if(graph.kernels, [&](const GraphKernel& k) { return k.node == node; });
    process.pieces -= std::erase_if(graph.memory, [&](const GraphMemory& m) { return m.node == node; });
    process.pieces -= std::erase_if(graph.copies, [&](const GraphCopy& c) { return c.node == node; });
  }
}

// ---------------------------------------------------------------- launches

GraphBook::Exec& GraphBook::exec_of(Process& process, std::uint64_t handle) {
  const auto [it, is_new] = process.execs.try_emplace(handle);
  if (is_new) it->second.graph.complete = false;
  return it->second;
}

void GraphBook::write(Exec& exec, const GraphCall& call) {
  exec.row = ++last_;
  std::map<std::pair<RowId, RowId>, std::uint64_t> counts;
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

void GraphBook::write_uses(Exec& exec) {
  if (std::exchange(exec.changed, false))
    uses_(exec.row, exec.launches, exec.errors, exec.ns, exec.max, exec.first, exec.last);
}

// The executable graph had other kernels until now: they keep their row, the next launch gets a new one.
void GraphBook::change(Exec& exec, Graph graph) {
  if (exec.graph == graph) return;
  write_uses(exec);
  const bool frees_first = exec.frees_first;
  exec = {};
  exec.frees_first = frees_first;
  exec.graph = std::move(graph);
}

void GraphBook::instantiate(Process& process, const GraphCall& call) {
  const std::uint64_t handle = call.made("hipGraphExec_t");
  if (!handle) return;
  while (process.execs.size() >= kMostObjects) forget(process, process.execs.begin()->first);
  forget(process, handle);
  Exec& exec = process.execs[handle];
  exec.frees_first = call.view.value(probes::Role::Flags).value_or(0) & kAutoFreeOnLaunch;
  append(process, exec.graph, known(process, call.given("hipGraph_t")));
  write(exec, call);
}

void GraphBook::update(Process& process, const GraphCall& call) {
  change(exec_of(process, call.given("hipGraphExec_t")), known(process, call.given("hipGraph_t")));
}

void GraphBook::set_in_exec(Process& process, const GraphCall& call) {
  Exec& exec = exec_of(process, call.given("hipGraphExec_t"));
  const std::uint64_t node = call.given("hipGraphNode_t");
  if (call.kernels.empty()) return;
  Graph changed = exec.graph;
  const auto it = std::ranges::find(changed.kernels, node, &GraphKernel::node);
  if (it == changed.kernels.end()) {
    changed.complete = false;
  } else {
    it->kernel = call.kernels[0].kernel;
    it->geometry = call.kernels[0].geometry;
  }
  change(exec, std::move(changed));
}

void GraphBook::child_in_exec(Process& process, const GraphCall& call) {
  Exec& exec = exec_of(process, call.given("hipGraphExec_t"));
  Graph changed = exec.graph;
  changed.complete = false;
  change(exec, std::move(changed));
}

void GraphBook::enable(Process& process, const GraphCall& call) {
  Exec& exec = exec_of(process, call.given("hipGraphExec_t"));
  Graph changed = exec.graph;
  const auto it = std::ranges::find(changed.kernels, call.given("hipGraphNode_t"), &GraphKernel::node);
  if (it == changed.kernels.end()) return;  // not of a kernel, or captured
  it->enabled = call.given("unsigned int") != 0;
  change(exec, std::move(changed));
}

void GraphBook::forget(Process& process, std::uint64_t handle) {
  const auto it = process.execs.find(handle);
  if (it == process.execs.end()) return;
  write_uses(it->second);
  process.pieces -= std::min(process.pieces, it->second.graph.pieces());
  process.execs.erase(it);
}

void GraphBook::destroy_exec(Process& process, const GraphCall& call) { forget(process, call.given("hipGraphExec_t")); }

void GraphBook::launch(Process& process, const GraphCall& call) {
  Exec& exec = exec_of(process, call.given("hipGraphExec_t"));
  if (Capture* capture = capture_of(process, call.given("hipStream_t"))) {
    if (!call.failed) append(process, capture->graph, exec.graph);
    return;
  }
  ran_ = true;
  if (!exec.graph.copies.empty()) launched_copies_ = &exec.graph.copies;
  if (!exec.graph.memory.empty()) launched_ = {&exec.graph.memory, exec.frees_first};
  if (exec.row == 0) write(exec, call);
  if (!call.failed) launched_kernels_ = exec.kernels == 0 && !exec.graph.complete ? 1 : exec.kernels;
  if (exec.launches++ == 0) exec.first = call.at;
  exec.errors += call.failed;
  exec.ns += call.ns;
  exec.max = std::max(exec.max, call.ns);
  exec.last = call.at;
  exec.changed = true;
  if (call.stored) launch_(call.call, exec.row, unless(call.stream, 0));
}

void GraphBook::end_process(ProcessId process) {
  const auto it = processes_.find(process);
  if (it == processes_.end()) return;
  for (auto& [handle, exec] : it->second.execs) write_uses(exec);
  capturing_ -= it->second.captures.size();
  processes_.erase(it);
}

void GraphBook::flush() {
  for (auto& [id, process] : processes_)
    for (auto& [handle, exec] : process.execs) write_uses(exec);
}

}  // namespace fade::store
