#pragma once
#include <cstdint>

#include "probes/probe.hpp"

namespace fade::store {

// The tables of a function's calls, beside those of every call. Memory: the ledger, or none.
enum class CallFamily : std::uint8_t {
  Memory,
  Launch,
  Graph,
  ModuleLoad,
  ModuleUnload,
  KernelName,
  Copy,
  StreamCreate,
  StreamDestroy,
  StreamSync,
  SetDevice,
  DeviceQuery,
  Marker,
  Gpu,
};

CallFamily call_family(const probes::Probe& probe);

}  // namespace fade::store
