// Memory of graphs. What goes into a graph, as a node or because the stream is captured, allocates nothing: that happens when the graph
// is launched, at the same address each time, and again with the next launch. Destroying the graph gives nothing back.
#include "store/recorder.hpp"

namespace fade::store {

using probes::Role;

namespace {

std::int64_t part(std::int64_t whole, std::int64_t nth, std::int64_t of) { return whole / of * nth + whole % of * nth / of; }
}  // namespace

bool Recorder::is_captured(const Now& now) const {
  if (!graphs_.capturing(now.thread.process)) return false;
  const auto stream = now.view.value(Role::Stream);
  return stream && graphs_.captures(now.thread.process, *stream);
}

void Recorder::capture_memory(const Now& now, const Allocation& allocation, bool frees) {
  GraphMemory memory{.allocation = allocation, .frees = frees};
  memory.allocation.kind = MemoryKind::Graph;
  graphs_.capture_memory(now.thread.process, now.view.value(Role::Stream).value_or(0), memory);
}

std::optional<GraphMemory> Recorder::graph_memory(const Now& now) {
  const auto node = memory_node(now.view);
  if (!node) return std::nullopt;
  return GraphMemory{.allocation = {.address = node->address, .bytes = node->bytes, .device = devices_.row(now.process, node->device), .kind = MemoryKind::Graph,
                                    .space = Space::Memory, .cause = cause_of(now), .library = directory_.library_of(now.record.caller)},
                     .frees = node->frees};
}

// The order is the graph's; the times are spread over the call, because when the GPU does it cannot be seen. An allocation is that of the
// call that put it into the graph, a free that of the launch.
void Recorder::launch_memory(const Now& now) {
  const auto [memories, frees_first] = graphs_.launched_memory();
  const ProcessId process = now.thread.process;
  Cause cause = cause_of(now);
  if (now.failed) {
    if (now.view.result() == kOutOfMemory)
      memory_.out_of_memory(process, {.bytes = most_at_once(*memories), .device = memories->front().allocation.device, .kind = MemoryKind::Graph, .cause = cause});
    return;
  }
  cause.at = cause.entered;
  for (const GraphMemory& memory : *memories)
    if (frees_first && !memory.frees && memory_.holds(process, Space::Memory, memory.allocation.address))
      memory_.release(process, Space::Memory, memory.allocation.address, cause, memory.allocation.device);
  const auto count = static_cast<std::int64_t>(memories->size());
  std::int64_t nth = 0;
  for (const GraphMemory& memory : *memories) {
    cause.entered = cause.at = now.at + part(now.end - now.at, ++nth, count);
    if (memory.frees) {
      memory_.release(process, Space::Memory, memory.allocation.address, cause, device_of(now));
      continue;
    }
    Allocation allocation = memory.allocation;
    allocation.cause.parent = 0;
    allocation.cause.entered = allocation.cause.at = cause.at;
    memory_.allocate(process, allocation);
  }
}

}  // namespace fade::store
