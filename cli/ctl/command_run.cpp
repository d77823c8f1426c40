// run: the program is our child, with our terminal, user and environment; the recording is the daemon's.
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/log.hpp"
#include "cli/ctl/show.hpp"
#include "cli/run/ending.hpp"
#include "ptrace/launch.hpp"
#include "supervisor/preparation.hpp"
#include "supervisor/signal_relay.hpp"

namespace fade::cli::ctl {
namespace {

constexpr std::chrono::minutes kAttachTime{2};

Result<ipc::Json> hand_over(const Context& context, pid_t pid) {
  auto client = connect(context);
  if (!client) return tl::unexpected(std::move(client.error()));
  const std::string& name = context.words.front();
  return client->call("attach", {{"pid", pid}, {"run", true}, {"name", name.substr(name.rfind('/') + 1)}, {"options", recording_json(context.settings)}}, kAttachTime);
}

// What it ended with; the kernel tells its parent, whoever traces it.
int wait_for(pid_t pid) {
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {}
  return status;
}

}  // namespace

Result<void> run_program(Context& context) {
  if (context.words.empty()) return usage_error("no command given", "fadectl run -- COMMAND [ARGS...]");
  context.status = run::kOwnFailure;
  if (auto found = find_program(context.words.front(), {}); !found) {
    context.status = run::status_of(found.error());
    return tl::unexpected(std::move(found.error()));
  }
  auto program = LaunchedProgram::fork_waiting({context.words, changed_environment({}, environ), {}});
  if (!program) return tl::unexpected(std::move(program.error()));
  const SignalRelay relay(program->pid());
  const auto session = hand_over(context, program->pid());
  if (!session) return tl::unexpected(session.error());  // the program was never begun, and ends with us
  log::info("session {}: recording {} (pid {}) to {}", number_of(*session, "id"), shown_text(*session, "program"), program->pid(), path_of(*session));
  program->release();
  const int status = wait_for(program->pid());
  if (const int failure = program->exec_errno(); failure != 0) {
    context.status = run::status_of(Error{{}, {}, {}, failure});
    return fail_errno("cannot run '" + context.words.front() + "'", failure);
  }
  RunOutcome outcome;
  if (WIFSIGNALED(status)) outcome.exit_signal = WTERMSIG(status);
  else outcome.exit_code = WEXITSTATUS(status);
  context.status = run::end_as(outcome);
  return {};
}

}  // namespace fade::cli::ctl
