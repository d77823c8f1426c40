// --list-probes: the functions that would be watched with these options.
#pragma once
#include <string>
#include <vector>

#include "base/result.hpp"
#include "supervisor/recording_options.hpp"

namespace fade::cli::recording {

// One line each: group, then the prototype as a .probes file has it. Functions named by --probe are not among them:
// their prototypes are read from the library when the program maps it.
Result<std::vector<std::string>> catalogue(const RecordingOptions& options);

}  // namespace fade::cli::recording
