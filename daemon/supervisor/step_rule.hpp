// --step: the definition of a step of the program.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "base/recording.hpp"
#include "base/result.hpp"
#include "probes/probe.hpp"
#include "supervisor/recording_options.hpp"

namespace fade {

// range:PATTERN, or FUNCTION, FUNCTION/N, call:FUNCTION/N; off or nothing: no steps. Errors have code EINVAL.
Result<StepRule> parse_step(std::string_view text);
// --step; if none is given and ranges of PyTorch are recorded (-e ops-ranges), the steps of its profiler.
std::string step_of(const RecordingOptions& options);
// Fails where no function is called so. `also`: names the user gave himself (--probe).
Result<void> check_step(const StepRule& rule, const std::vector<probes::ProbePtr>& known,
                        const std::vector<std::string>& also);
// True for functions that must be watched for it, whatever else is.
bool needs_for_steps(const StepRule& rule, const probes::Probe& probe);

}  // namespace fade
