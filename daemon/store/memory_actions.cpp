#include "store/memory_actions.hpp"

#include <string_view>

namespace fade::store {
namespace {

using probes::Kind;

struct Row {
  std::string_view symbol;
  MemoryAction action;
};
using enum MemoryAct;

// HIP's functions for which the kind in the .probes file is not enough.
constexpr Row kRows[] = {
    {"hipMallocManaged", {Allocate, MemoryKind::Managed, Space::Memory}},
    {"hipHostRegister", {Allocate, MemoryKind::Registered, Space::Registered}},
    {"hipHostUnregister", {Free, MemoryKind::Registered, Space::Registered}},
    {"hipArrayCreate", {Allocate, MemoryKind::Array, Space::Array}},
    {"hipArray3DCreate", {Allocate, MemoryKind::Array, Space::Array}},
    {"hipMallocArray", {Allocate, MemoryKind::Array, Space::Array}},
    {"hipMalloc3DArray", {Allocate, MemoryKind::Array, Space::Array}},
    {"hipMallocMipmappedArray", {Allocate, MemoryKind::Array, Space::Array}},
    {"hipMipmappedArrayCreate", {Allocate, MemoryKind::Array, Space::Array}},
    {"hipArrayDestroy", {Free, MemoryKind::Array, Space::Array}},
    {"hipFreeArray", {Free, MemoryKind::Array, Space::Array}},
    {"hipFreeMipmappedArray", {Free, MemoryKind::Array, Space::Array}},
    {"hipMipmappedArrayDestroy", {Free, MemoryKind::Array, Space::Array}},
    {"hipMemCreate", {Allocate, MemoryKind::Physical, Space::Physical}},
    {"hipMemImportFromShareableHandle", {Allocate, MemoryKind::Imported, Space::Physical}},
    {"hipMemRetainAllocationHandle", {Retain, MemoryKind::Physical, Space::Physical}},
    {"hipMemRelease", {Free, MemoryKind::Physical, Space::Physical}},
    {"hipMemMap", {Map, MemoryKind::Physical, Space::Physical}},
    {"hipMemUnmap", {Unmap, MemoryKind::Physical, Space::Physical}},
    {"hipMemAddressReserve", {Allocate, MemoryKind::Reserved, Space::Reserved}},
    {"hipMemAddressFree", {Free, MemoryKind::Reserved, Space::Reserved}},
    {"hipIpcGetMemHandle", {Export, MemoryKind::Device, Space::Memory}},
    {"hipIpcOpenMemHandle", {Open, MemoryKind::Imported, Space::Ipc}},
    {"hipIpcCloseMemHandle", {Free, MemoryKind::Imported, Space::Ipc}},
    {"hipImportExternalMemory", {Allocate, MemoryKind::Imported, Space::External}},
    {"hipDestroyExternalMemory", {Free, MemoryKind::Imported, Space::External}},
    {"hipExternalMemoryGetMappedBuffer", {Allocate, MemoryKind::Mapped, Space::Memory}},
    {"hipExternalMemoryGetMappedMipmappedArray", {Allocate, MemoryKind::Mapped, Space::Array}},
    {"hipMemPoolExportPointer", {Export, MemoryKind::Device, Space::Memory}},
    {"hipMemPoolImportPointer", {Open, MemoryKind::Imported, Space::Memory}},
    {"hipMemGetAddressRange", {Measure, MemoryKind::Imported, Space::Memory}},
    {"hipMemPtrGetInfo", {Measure, MemoryKind::Imported, Space::Memory}},
    {"hipGraphAddMemAllocNode", {Node, MemoryKind::Graph, Space::Memory}},
    {"hipGraphAddMemFreeNode", {Node, MemoryKind::Graph, Space::Memory}},
    {"hipDrvGraphAddMemFreeNode", {Node, MemoryKind::Graph, Space::Memory}},
    {"hipGraphAddNode", {Node, MemoryKind::Graph, Space::Memory}},
    {"hipDeviceReset", {Reset, MemoryKind::Device, Space::Memory}},
    {"hipMemGetInfo", {Tell, MemoryKind::Device, Space::Memory}},
};

MemoryAction by_kind(Kind kind) {
  if (kind == Kind::Alloc) return {Allocate, MemoryKind::Device, Space::Memory};
  if (kind == Kind::HostAlloc) return {Allocate, MemoryKind::Host, Space::Memory};
  if (kind == Kind::Free || kind == Kind::HostFree) return {Free, MemoryKind::Device, Space::Memory};
  return {};
}

}  // namespace

MemoryAction memory_action(const probes::Probe& probe) {
  if (probe.api == "hip")
    for (const Row& row : kRows)
      if (row.symbol == probe.symbol) return row.action;
  return by_kind(probe.kind);
}

}  // namespace fade::store
