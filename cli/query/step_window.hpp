// --step: the time of one step of the program, or of several that follow each other, as --from and --to.
#pragma once
#include "cli/query/command.hpp"

namespace fade::query {

// The settings with the time of the steps that --step names; as they are without --step.
Result<Settings> with_step_window(const Context& context, Recording& recording);

}  // namespace fade::query
