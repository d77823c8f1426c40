// Rules with the value "auto" or "kfd": before the rules are parsed, the GPU driver's data replace it.
#pragma once
#include <functional>
#include <vector>

#include "base/kfd.hpp"
#include "base/result.hpp"
#include "probes/overrides/spec.hpp"

namespace fade {

// Rules with numbers in place of these words, for computeUnits (the physical count), maxThreadsPerMultiProcessor (of
// one compute unit) and totalGlobalMem; all others as they are. `read` is asked once, if there is such a rule. HIP's
// numbers of devices are not known before the program runs, so where GPUs differ such a rule becomes one for each, by
// PCI address. A driver that says nothing is an error (EINVAL), and so are GPUs that differ and share an address, or
// have none.
Result<std::vector<probes::RuleText>> with_presets(std::vector<probes::RuleText> rules,
                                                   const std::function<KfdTopology()>& read);

}  // namespace fade
