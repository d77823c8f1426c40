// The coverage of a recording, sent before it begins: the options in words, the filters, the functions left out.
#pragma once
#include <string>

#include "base/coverage.hpp"
#include "session/module_watch.hpp"
#include "supervisor/preparation.hpp"
#include "supervisor/recording_options.hpp"

namespace fade {

// As one line that a shell understands. Values of variables with names that look like secrets are replaced.
std::string shown_options(const std::vector<std::string>& typed);

// `wishes` are the functions that will be watched, of all that `chosen` knows.
Coverage coverage_of(const RecordingOptions& options, const ChosenProbes& chosen, const ModuleWatch::Wishes& wishes);

// Something that is on by default is left out on purpose.
bool is_filtered(const Coverage& coverage);

}  // namespace fade
