// One call's answer about a device, as names and text: the members of hipDeviceProp_t, one attribute, a name, a size.
// The probes (probes/) know the functions that give such answers; nothing here knows the database.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "store/call_view.hpp"

namespace fade::store {

struct DeviceFact {
  std::string name;  // "warpSize", "maxGridSize[2]"
  std::string value;
};

// `told` is PieceKind::Out for the runtime's answer, Became for the answer that the program received instead.
std::vector<DeviceFact> device_facts(const CallView& call, PieceKind told);
// The ordinal that the call names, nullopt if the call means the thread's current device.
std::optional<int> device_asked(const CallView& call);
bool tells_device_facts(const probes::Probe& probe);

}  // namespace fade::store
