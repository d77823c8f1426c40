// hide-device=D of --inject: the program is started with a variable that leaves the device out of HIP's list. So all
// answers agree, and later devices move down. HIP reads it once, when it starts.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "probes/injections/injections.hpp"

namespace fade {

// The variable as it was, and as the program has it: NAME=VALUE. Of one rule.
struct HiddenDevice {
  RuleId rule = 0;
  std::string was, became;  // `was` is empty where there was none
};

// Puts the variable into `environment` if a rule hides a device. `gpus`: of this machine, as far as the driver tells.
Result<std::vector<HiddenDevice>> hide_devices(const probes::Injections& rules, std::optional<std::size_t> gpus,
                                               std::vector<std::string>& environment);
// The number of GPUs that the driver shows; nullopt: it shows none.
std::optional<std::size_t> number_of_gpus(const std::string& sysfs_root);
// A running program has read the variable already.
Result<void> check_nothing_is_hidden(const probes::Injections& rules);

}  // namespace fade
