// The engine of fade-run: runs one program under supervision from start to end. Owns the tracing loop, the session and
// the writer; returns when the program has ended (or was let go) and the database is closed.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "base/pid.hpp"
#include "base/result.hpp"
#include "supervisor/recording_options.hpp"

namespace fade {

struct RunOptions : RecordingOptions {
  std::vector<std::string> command;              // argv of the program; command[0] is looked up in PATH
  std::vector<std::string> environment_changes;  // VAR=VALUE sets, VAR unsets
  std::string directory;                         // chdir of the program; empty: ours
  bool kill_on_exit = false;                     // PTRACE_O_EXITKILL
};

struct RunOutcome {
  int exit_code = 0;         // of the program
  int exit_signal = 0;       // set where it died of a signal
  bool let_go = false;       // detached from before its end
  bool interrupted = false;  // INT, QUIT, TERM or HUP came while it ran, from the terminal or from elsewhere
  RunSummary summary;
};

// Called on the tracing thread as soon as the program is running and the database is open.
using OnStarted = std::function<void(const std::string& program, Pid pid, const std::string& database)>;

// Fails only if the program could not be started or may not be traced, or the database cannot be created; error.code
// is ENOENT / EACCES for the program (exit statuses 127 / 126), anything else is fade's own failure (125).
// Everything the options name is checked before the program is started.
Result<RunOutcome> run(const RunOptions& options, const OnStarted& on_started);

// The output of --dry-run: the rules as resolved, in lines.
Result<std::vector<std::string>> resolved_rules(const RecordingOptions& options);

}  // namespace fade
