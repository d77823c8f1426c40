// The program is our child, with our terminal, user and environment; only the recording is the daemon's.
#include <sys/wait.h>
#include <unistd.h>

#include <utility>

#include "base/glob.hpp"
#include "cli/handover/handover.hpp"
#include "ptrace/launch.hpp"
#include "supervisor/preparation.hpp"
#include "supervisor/signal_relay.hpp"

namespace fade::cli::handover {
namespace {

// As run() has it: ENOENT and EACCES are the program's, other codes say nothing.
Error own_failure(Error error) {
  error.code = 0;
  return error;
}

// What it ended with; the kernel tells its parent, whoever traces it.
int wait_for(Pid pid) {
  int status = 0;
  while (::waitpid(pid.value(), &status, 0) < 0 && errno == EINTR) {}
  return status;
}

}  // namespace

Result<RunOutcome> run_here(const std::string& socket, const RunOptions& options) {
  const std::string& command = options.command.front();
  if (auto found = find_program(command, options.directory); !found) return tl::unexpected(std::move(found.error()));
  auto program = LaunchedProgram::fork_waiting({options.command, environment_of(options), options.directory});
  if (!program) return tl::unexpected(own_failure(std::move(program.error())));
  const SignalWitness witness(program->pid(), options.command);
  const SignalRelay relay(program->pid(), witness);
  const auto session =
      attach({socket, program->pid(), std::string(base_name(command)), recording_json(options, false)});
  if (!session) return tl::unexpected(own_failure(session.error()));  // the program was never begun, and ends with us
  say_session(*session);
  program->release();
  const int status = wait_for(program->pid());
  if (const int failure = program->exec_errno(); failure != 0)
    return fail_errno("cannot run '" + command + "'", failure == ENOENT ? ENOENT : EACCES);
  RunOutcome outcome;
  if (WIFSIGNALED(status)) outcome.exit_signal = WTERMSIG(status);
  else outcome.exit_code = WEXITSTATUS(status);
  return outcome;
}

}  // namespace fade::cli::handover
