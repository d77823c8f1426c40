// The .probes and .enums files that come with fade: embedded at build time, parsed at first use.
#pragma once
#include <memory>
#include <vector>

#include "probes/probe.hpp"
#include "probes/types.hpp"

namespace fade::probes {

// The probes in the order of the files. built_in_types() in types.hpp has the types that the files declare.
const std::vector<ProbePtr>& built_in_probes();

}  // namespace fade::probes
