// Having the daemon record instead of doing it ourselves: what fadectl, fade-run --daemon and fade-attach --daemon
// share.
#pragma once
#include <string>

#include "base/pid.hpp"
#include "base/result.hpp"
#include "ipc/json.hpp"
#include "supervisor/run.hpp"

namespace fade::cli::handover {

// What was said about recording, as the daemon wants it; empty where nothing was. `tree`: with descendants.
ipc::Json recording_json(const RecordingOptions& options, bool tree);

// Fails with EINVAL for what the daemon does not take over: it chooses the file's name, and it reads none that a client
// names, because it may read others than its client.
Result<void> check_options(const RecordingOptions& options);

struct Handover {
  std::string socket;  // empty: the usual one
  Pid pid = 0;
  std::string name;  // of a program that has not begun; empty: it has
  ipc::Json options = ipc::Json::object();
};
// Returns when the process is attached to, with the session as the daemon shows it.
Result<ipc::Json> attach(const Handover& handover);

// Says on stderr which session it is and where it is recorded.
void say_session(const ipc::Json& session);

// Runs the command here, recorded by the daemon, to its end. Errors as those of run(); the summary stays empty.
Result<RunOutcome> run_here(const std::string& socket, const RunOptions& options);

}  // namespace fade::cli::handover
