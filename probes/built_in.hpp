// The .probes and .enums files that come with fade, embedded when it was built and parsed when first asked for.
#pragma once
#include <memory>
#include <vector>

#include "probes/probe.hpp"
#include "probes/types.hpp"

namespace fade::probes {

// In the order of the files; built_in_types() in types.hpp is what they declare.
const std::vector<ProbePtr>& built_in_probes();

}  // namespace fade::probes
