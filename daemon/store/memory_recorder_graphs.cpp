// Memory of graphs. A call that goes into a graph, as a node or because the stream is captured, allocates nothing. The
// launch of the graph allocates, at the same address each time. Destroying the graph gives nothing back.
#include "store/memory_recorder.hpp"

namespace fade::store {

using probes::Role;

namespace {
std::int64_t part(std::int64_t whole, std::int64_t nth, std::int64_t of) {
  return whole / of * nth + whole % of * nth / of;
}
}  // namespace

bool MemoryRecorder::is_captured(const RecordedCall& call) const {
  if (!graphs_.capturing(call.process_id())) return false;
  const auto stream = call.view.value(Role::Stream);
  return stream && graphs_.captures(call.process_id(), *stream);
}

void MemoryRecorder::capture(const RecordedCall& call, const Allocation& allocation, bool frees) {
  GraphMemory memory{.allocation = allocation, .frees = frees};
  memory.allocation.kind = MemoryKind::Graph;
  graphs_.capture_memory(call.process_id(), call.view.value(Role::Stream).value_or(0), memory);
}

std::optional<GraphMemory> MemoryRecorder::graph_node(const RecordedCall& call) {
  const auto node = memory_node(call.view);
  if (!node) return std::nullopt;
  const DeviceRow device = devices_.row(call.process, node->device);
  return GraphMemory{.allocation = {.address = node->address,
                                    .bytes = node->bytes,
                                    .device = device,
                                    .kind = MemoryKind::Graph,
                                    .space = Space::Memory,
                                    .cause = cause(call),
                                    .library = directory_.library_of(call.record.caller)},
                     .frees = node->frees};
}

// hipGraphInstantiateFlagAutoFreeOnLaunch.
void MemoryRecorder::free_before_launch(const RecordedCall& call, Cause cause) {
  const ProcessId process = call.process_id();
  cause.at = cause.entered;
  for (const GraphMemory& memory : *graphs_.launched_memory().memories)
    if (!memory.frees && memory_.holds(process, Space::Memory, memory.allocation.address))
      memory_.release(process, Space::Memory, memory.allocation.address, cause, memory.allocation.device);
}

// The order is the graph's. The times are spread over the call, because fade cannot see when the GPU does it. An
// allocation is that of the call that put it into the graph, a free that of the launch.
void MemoryRecorder::graph_launched(const RecordedCall& call) {
  const auto [memories, frees_first] = graphs_.launched_memory();
  if (!memories) return;
  const ProcessId process = call.process_id();
  Cause launch = cause(call);
  if (call.failed) {
    if (call.view.result() == kOutOfMemory)
      memory_.out_of_memory(process, {.bytes = most_at_once(*memories),
                                      .device = memories->front().allocation.device,
                                      .kind = MemoryKind::Graph,
                                      .cause = launch});
    return;
  }
  if (frees_first) free_before_launch(call, launch);
  const auto count = static_cast<std::int64_t>(memories->size());
  std::int64_t nth = 0;
  for (const GraphMemory& memory : *memories) {
    launch.entered = launch.at = call.at + part(call.end - call.at, ++nth, count);
    if (memory.frees) {
      memory_.release(process, Space::Memory, memory.allocation.address, launch, streams_.device_of(call));
      continue;
    }
    Allocation allocation = memory.allocation;
    allocation.cause.parent = 0;
    allocation.cause.entered = allocation.cause.at = launch.at;
    memory_.allocate(process, allocation);
  }
}

}  // namespace fade::store
