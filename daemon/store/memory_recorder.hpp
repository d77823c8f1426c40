// The effects of calls on the ledger of memory: allocations and frees, memory that processes share, and memory of
// graphs.
#pragma once
#include <optional>

#include "store/books.hpp"
#include "store/recorded_call.hpp"
#include "store/stream_recorder.hpp"

namespace fade::store {

class MemoryRecorder {
 public:
  MemoryRecorder(Books& books, StreamRecorder& streams)
      : directory_(books.directory),
        memory_(books.memory),
        graphs_(books.graphs),
        devices_(books.devices),
        stream_book_(books.streams),
        handles_(books.handles),
        streams_(streams) {}

  // Any call that may give or take memory: acts as the function's @memory note or kind says.
  void record(const RecordedCall& call);
  // Called after every call without an outer call.
  void outer_call(const RecordedCall& call) {
    memory_.outer_call(cause_of(call, directory_), directory_.library_of(call.record.caller));
  }
  bool waits_for_outer() const { return memory_.waits_for_outer(); }

  // True if the call's stream is captured: then the call goes into a graph and has no effect now.
  bool is_captured(const RecordedCall& call) const;
  // The allocating or freeing node that the call puts into a graph.
  std::optional<GraphMemory> graph_node(const RecordedCall& call);
  // The call has launched a graph, or tried to: does the allocations and frees of its nodes.
  void graph_launched(const RecordedCall& call);

 private:
  void allocate(const RecordedCall& call);
  void release(const RecordedCall& call);
  void map(const RecordedCall& call);
  void unmap(const RecordedCall& call);
  void retain(const RecordedCall& call);
  void reset(const RecordedCall& call);
  void told(const RecordedCall& call);

  // memory_recorder_shared.cpp
  void offer(const RecordedCall& call);
  void open(const RecordedCall& call);
  void measure(const RecordedCall& call);

  // memory_recorder_graphs.cpp
  void capture(const RecordedCall& call, const Allocation& allocation, bool frees);
  void free_before_launch(const RecordedCall& call, Cause cause);

  Allocation allocation_of(const RecordedCall& call) const;
  Cause cause(const RecordedCall& call) const { return cause_of(call, directory_); }

  Directory& directory_;
  MemoryLedger& memory_;
  GraphBook& graphs_;
  DeviceBook& devices_;
  StreamBook& stream_book_;
  SharedHandles& handles_;
  StreamRecorder& streams_;
};

}  // namespace fade::store
