// Watching running processes, from the first look to what is said at the end: what fade-attach and fade-trace have in
// common.
#pragma once
#include "cli/attach/control.hpp"
#include "cli/attach/held_signals.hpp"
#include "cli/attach/options.hpp"
#include "cli/options/program.hpp"

namespace fade::cli::attach {

// Logs the error, and tells the daemon if there is one. The status to end with.
int report(const Error& error, Control* control);

// Watches request.options.pids until the user, a signal, the daemon or their end ends it. `name` stands before messages
// about a failure, `control` is that of the daemon or null, `held` is released when signals are heard. The status to
// end with.
int supervise(const Request& request, const Invocation& invocation, std::string_view name, Control* control,
              HeldSignals& held);

}  // namespace fade::cli::attach
