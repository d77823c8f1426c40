// What a function does to the ledger: which kind of memory it gives or takes, and what the value that names it is.
#pragma once
#include <cstdint>

#include "probes/probe.hpp"

namespace fade::store {

// alloc_.kind; memory_kind_ has their names and which of them are counted as memory of a device or pinned memory of the host.
enum class MemoryKind : std::uint8_t { Device, Host, Managed, Registered, Array, Physical, Reserved, Imported };

// What an allocation is named by: values of different sorts may be equal. Host: of Memory, what the host may use too.
enum class Space : std::uint8_t { Memory, Host, Registered, Array, Physical, Reserved, Ipc, External };
constexpr std::size_t kSpaces = static_cast<std::size_t>(Space::External) + 1;

enum class MemoryAct : std::uint8_t { None, Allocate, Free, Map, Unmap, Retain, Reset, Tell };

struct MemoryAction {
  MemoryAct act = MemoryAct::None;
  MemoryKind kind = MemoryKind::Device;
  Space space = Space::Memory;
};

MemoryAction memory_action(const probes::Probe& probe);

}  // namespace fade::store
