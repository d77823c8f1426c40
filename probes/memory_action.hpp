// A function's effect on memory: the kind of memory that it gives or takes, and the sort of value that names it.
#pragma once
#include <cstddef>
#include <cstdint>

namespace fade::probes {

// alloc_.kind; memory_kind_ has their names and which of them are counted as memory of a device or pinned memory of the
// host.
enum class MemoryKind : std::uint8_t {
  Device,
  Host,
  Managed,
  Registered,
  Array,
  Physical,
  Reserved,
  Imported,
  Graph,
  Mapped
};

// The sort of value that names an allocation: values of different sorts may be equal. Host: of Memory that the host may
// use too.
enum class MemorySpace : std::uint8_t { Memory, Host, Registered, Array, Physical, Reserved, Ipc, External };
constexpr std::size_t kMemorySpaces = static_cast<std::size_t>(MemorySpace::External) + 1;

// Export, Open: memory for other processes, and memory of other processes. Measure: gives the size of an allocation.
// Node: goes into a graph, as a piece that allocates or frees when the graph is launched.
enum class MemoryAct : std::uint8_t {
  None,
  Allocate,
  Free,
  Map,
  Unmap,
  Retain,
  Reset,
  Tell,
  Export,
  Open,
  Measure,
  Node
};

struct MemoryAction {
  MemoryAct act = MemoryAct::None;
  MemoryKind kind = MemoryKind::Device;     // of Allocate and Open
  MemorySpace space = MemorySpace::Memory;  // of Allocate, Free and Open
  bool operator==(const MemoryAction&) const = default;
};

}  // namespace fade::probes
