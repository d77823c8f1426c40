// Everything that the options of a run name, read and checked before any program is started.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "probes/catalogue.hpp"
#include "probes/injections/injections.hpp"
#include "probes/overrides/overrides.hpp"
#include "probes/selection.hpp"
#include "session/session.hpp"
#include "supervisor/recording_options.hpp"
#include "supervisor/run.hpp"

namespace fade {

struct ChosenProbes {
  std::vector<probes::ProbePtr> known;  // built in and from the user's files
  probes::Selection selection;
  probes::Injections injections;  // --inject, --replace
};
// Errors of the options have code EINVAL.
Result<ChosenProbes> choose_probes(const RecordingOptions& options);
Result<probes::Overrides> read_rules(const RecordingOptions& options);
Result<StackChoice> stack_choice(const RecordingOptions& options);
// The functions to be armed are those selected, and those with answers that a rule sets: these even if not selected.
Result<SessionOptions> session_options(const RecordingOptions& options, const ChosenProbes& chosen,
                                       const probes::Overrides& overrides);

// The origin of a rule of --set that belongs to a preset of --inject begins like this.
inline constexpr std::string_view kOfPreset = "--inject ";

// fade's environment, with the changes of -E. VAR=VALUE sets, VAR takes away.
std::vector<std::string> changed_environment(const std::vector<std::string>& changes, char** ours);
// That of the program of a run.
std::vector<std::string> environment_of(const RunOptions& options);

// Finds a program as execvp(3) would: fails with code ENOENT or EACCES and the reason; without code if the directory is
// missing.
Result<std::string> find_program(const std::string& name, const std::string& directory);

}  // namespace fade
