#include "store/graph_book.hpp"

#include <algorithm>
#include <utility>

namespace fade::store {
namespace {

constexpr std::size_t kMostObjects = 100'000;  // executable graphs, captures, their streams and events, of one process

std::string_view without_suffix(std::string_view symbol) {
  constexpr std::string_view kPerThread = "_spt";
  if (symbol.ends_with(kPerThread)) symbol.remove_suffix(kPerThread.size());
  return symbol;
}

// A capture that ended without a graph: hipErrorStreamCaptureInvalidated, ...Unjoined.
constexpr std::int64_t kEndedWithoutGraph[] = {901, 904};

constexpr std::uint64_t kAutoFreeOnLaunch = 1;

}  // namespace

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

GraphBook::GraphBook(sqlite::Db& db, Failure& failure) : rows_(db, failure) {}

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
  if (capture) of.graphs.append(capture->graph, kernel);
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
  if (Capture* capture = capture_of(of, stream)) of.graphs.append(capture->graph, memory);
}

void GraphBook::capture_copy(ProcessId process, std::uint64_t stream, const GraphCopy& copy) {
  Process& of = processes_[process];
  if (Capture* capture = capture_of(of, stream)) of.graphs.append(capture->graph, copy);
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
    if (handle) process.graphs.known(handle).complete = false;
    return;
  }
  if (handle && it->into) process.graphs.append(process.graphs.known(handle), it->graph);
  else if (handle) process.graphs.put(handle, std::move(it->graph));
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

void GraphBook::create(Process& process, const GraphCall& call) { process.graphs.create(call.made("hipGraph_t")); }

void GraphBook::clone(Process& process, const GraphCall& call) {
  Graph copy;
  process.graphs.append(copy, process.graphs.known(call.given("hipGraph_t")));
  copy.forget_nodes();
  if (const std::uint64_t graph = call.made("hipGraph_t")) process.graphs.put(graph, std::move(copy));
}

void GraphBook::destroy(Process& process, const GraphCall& call) { process.graphs.destroy(call.given("hipGraph_t")); }

void GraphBook::add(Process& process, const GraphCall& call) {
  Graph& graph = process.graphs.known(call.given("hipGraph_t"));
  for (GraphKernel kernel : call.kernels) {
    kernel.node = call.made("hipGraphNode_t");
    process.graphs.append(graph, kernel);
  }
  add_memory(process, call);
}

void GraphBook::add_memory(Process& process, const GraphCall& call) {
  if (!call.memory) return;
  GraphMemory memory = *call.memory;
  memory.node = call.made("hipGraphNode_t");
  process.graphs.append(process.graphs.known(call.given("hipGraph_t")), memory);
}

void GraphBook::add_copy(Process& process, const GraphCall& call) {
  if (!call.copy) return;
  GraphCopy copy = *call.copy;
  copy.node = call.made("hipGraphNode_t");
  process.graphs.append(process.graphs.known(call.given("hipGraph_t")), copy);
}

void GraphBook::add_child(Process& process, const GraphCall& call) {
  Graph child;
  process.graphs.append(child, process.graphs.known(call.given("hipGraph_t", 1)));
  child.forget_nodes();
  process.graphs.append(process.graphs.known(call.given("hipGraph_t")), child);
}

void GraphBook::set(Process& process, const GraphCall& call) {
  if (!call.kernels.empty()) process.graphs.set_kernel(call.given("hipGraphNode_t"), call.kernels[0]);
}

void GraphBook::remove(Process& process, const GraphCall& call) {
  process.graphs.remove_node(call.given("hipGraphNode_t"));
}

// ---------------------------------------------------------------- launches

GraphExec& GraphBook::exec_of(Process& process, std::uint64_t handle) {
  const auto [it, is_new] = process.execs.try_emplace(handle);
  if (is_new) it->second.graph.complete = false;
  return it->second;
}

void GraphBook::instantiate(Process& process, const GraphCall& call) {
  const std::uint64_t handle = call.made("hipGraphExec_t");
  if (!handle) return;
  while (process.execs.size() >= kMostObjects) forget(process, process.execs.begin()->first);
  forget(process, handle);
  GraphExec& exec = process.execs[handle];
  exec.frees_first = call.view.value(probes::Role::Flags).value_or(0) & kAutoFreeOnLaunch;
  process.graphs.append(exec.graph, process.graphs.known(call.given("hipGraph_t")));
  rows_.write(exec, call);
}

void GraphBook::update(Process& process, const GraphCall& call) {
  rows_.change(exec_of(process, call.given("hipGraphExec_t")), process.graphs.known(call.given("hipGraph_t")));
}

void GraphBook::set_in_exec(Process& process, const GraphCall& call) {
  GraphExec& exec = exec_of(process, call.given("hipGraphExec_t"));
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
  rows_.change(exec, std::move(changed));
}

void GraphBook::child_in_exec(Process& process, const GraphCall& call) {
  GraphExec& exec = exec_of(process, call.given("hipGraphExec_t"));
  Graph changed = exec.graph;
  changed.complete = false;
  rows_.change(exec, std::move(changed));
}

void GraphBook::enable(Process& process, const GraphCall& call) {
  GraphExec& exec = exec_of(process, call.given("hipGraphExec_t"));
  Graph changed = exec.graph;
  const auto it = std::ranges::find(changed.kernels, call.given("hipGraphNode_t"), &GraphKernel::node);
  if (it == changed.kernels.end()) return;  // not of a kernel, or captured
  it->enabled = call.given("unsigned int") != 0;
  rows_.change(exec, std::move(changed));
}

void GraphBook::forget(Process& process, std::uint64_t handle) {
  const auto it = process.execs.find(handle);
  if (it == process.execs.end()) return;
  rows_.write_uses(it->second);
  process.graphs.release(it->second.graph);
  process.execs.erase(it);
}

void GraphBook::destroy_exec(Process& process, const GraphCall& call) { forget(process, call.given("hipGraphExec_t")); }

void GraphBook::launch(Process& process, const GraphCall& call) {
  GraphExec& exec = exec_of(process, call.given("hipGraphExec_t"));
  if (Capture* capture = capture_of(process, call.given("hipStream_t"))) {
    if (!call.failed) process.graphs.append(capture->graph, exec.graph);
    return;
  }
  ran_ = true;
  if (!exec.graph.copies.empty()) launched_copies_ = &exec.graph.copies;
  if (!exec.graph.memory.empty()) launched_ = {&exec.graph.memory, exec.frees_first};
  if (exec.row == 0) rows_.write(exec, call);
  if (!call.failed) launched_kernels_ = exec.given();
  exec.count(call);
  rows_.launched(exec, call);
}

void GraphBook::end_process(ProcessId process) {
  const auto it = processes_.find(process);
  if (it == processes_.end()) return;
  for (auto& [handle, exec] : it->second.execs) rows_.write_uses(exec);
  capturing_ -= it->second.captures.size();
  processes_.erase(it);
}

void GraphBook::flush() {
  for (auto& [id, process] : processes_)
    for (auto& [handle, exec] : process.execs) rows_.write_uses(exec);
}

}  // namespace fade::store
