// Graphs of a recording: the kernels, allocations and frees in each, added one by one or captured from a stream, and
// the number of launches of each executable graph (hipGraphExec_t). Handles that are used again mean the new object.
// Memory is bounded; a graph with unknown kernels is marked as incomplete.
#pragma once
#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "store/graph_call.hpp"
#include "store/graph_execs.hpp"
#include "store/graph_memory.hpp"
#include "store/graph_set.hpp"
#include "store/write.hpp"

namespace fade::store {

class GraphBook {
 public:
  GraphBook(sqlite::Db& db, Failure& failure);

  // True if the kernels that such a call names go into a graph.
  static bool names_kernels(std::string_view symbol);
  // True if the copy or fill that such a call describes goes into a graph.
  static bool adds_copy(std::string_view symbol);
  // Any call of the kind "graph", and those of events that lead a capture into another stream.
  // True: it has put kernels to run.
  bool call(const GraphCall& call);
  bool capturing() const { return capturing_ > 0; }  // any process
  bool capturing(ProcessId process) const { return capturing_ > 0 && processes_.contains(process); }
  // A launch into that stream: true if it went into a graph instead of running.
  bool capture(ProcessId process, std::uint64_t stream, const GraphKernel& kernel);
  bool captures(ProcessId process, std::uint64_t stream) const;
  void capture_memory(ProcessId process, std::uint64_t stream, const GraphMemory& memory);
  void capture_copy(ProcessId process, std::uint64_t stream, const GraphCopy& copy);
  // The copies of the graph that the last call launched, or tried to; nullptr: none. Valid until the next call.
  const std::vector<GraphCopy>* launched_copies() const { return launched_copies_; }
  // The allocations and frees of the graph that the last call launched, or tried to; valid until the next one.
  struct LaunchedMemory {
    const GraphMemories* memories = nullptr;  // nullptr: none of the sort
    bool frees_first = false;                 // its earlier allocations: hipGraphInstantiateFlagAutoFreeOnLaunch
  };
  const LaunchedMemory& launched_memory() const { return launched_; }
  // Kernels that the last call gave to the GPU. A graph of which no kernel is known counts as one.
  std::uint64_t launched() const { return launched_kernels_; }

  void end_process(ProcessId process);
  void flush();

 private:
  struct Capture {
    Graph graph;
    std::uint64_t into = 0;    // hipStreamBeginCaptureToGraph
    std::uint64_t origin = 0;  // the stream that began it
    std::unordered_set<std::uint64_t> streams, events;
  };
  struct Process {
    GraphSet graphs;
    std::unordered_map<std::uint64_t, GraphExec> execs;
    std::vector<Capture> captures;
  };
  using Action = void (GraphBook::*)(Process&, const GraphCall&);
  struct Row {
    std::string_view symbol;
    Action action;
    bool names_kernels;
  };
  static const Row kRows[];
  static const Row* row_of(std::string_view symbol);

  void begin(Process& process, const GraphCall& call);
  void end(Process& process, const GraphCall& call);
  void record(Process& process, const GraphCall& call);
  void wait(Process& process, const GraphCall& call);
  void create(Process& process, const GraphCall& call);
  void clone(Process& process, const GraphCall& call);
  void destroy(Process& process, const GraphCall& call);
  void add(Process& process, const GraphCall& call);
  void add_memory(Process& process, const GraphCall& call);
  void add_copy(Process& process, const GraphCall& call);
  void add_child(Process& process, const GraphCall& call);
  void set(Process& process, const GraphCall& call);
  void remove(Process& process, const GraphCall& call);
  void instantiate(Process& process, const GraphCall& call);
  void update(Process& process, const GraphCall& call);
  void set_in_exec(Process& process, const GraphCall& call);
  void enable(Process& process, const GraphCall& call);
  void child_in_exec(Process& process, const GraphCall& call);
  void destroy_exec(Process& process, const GraphCall& call);
  void launch(Process& process, const GraphCall& call);

  static Capture* capture_of(Process& process, std::uint64_t stream);
  static GraphExec& exec_of(Process& process, std::uint64_t exec);
  void forget(Process& process, std::uint64_t exec);

  std::unordered_map<ProcessId, Process> processes_;
  std::size_t capturing_ = 0;  // captures under way, of all processes
  bool ran_ = false;           // the call at hand has put kernels to run
  LaunchedMemory launched_;
  std::uint64_t launched_kernels_ = 0;
  const std::vector<GraphCopy>* launched_copies_ = nullptr;
  GraphExecRows rows_;
};

}  // namespace fade::store
