#include "cli/run/ending.hpp"

#include <signal.h>
#include <sys/resource.h>

#include "cli/options/program.hpp"

namespace fade::cli::run {

int status_of(const Error& error) {
  switch (error.code) {
    case ENOENT: return kNotFound;
    case EACCES:
    case ENOEXEC: return kNotExecutable;
    case EINVAL: return kUsageStatus;
    default: return kOwnFailure;
  }
}

int end_as(const RunOutcome& outcome) {
  if (outcome.let_go) return kOwnFailure;  // its status is not known
  if (outcome.exit_signal == 0) return outcome.exit_code;
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  ::signal(outcome.exit_signal, SIG_DFL);
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, outcome.exit_signal);
  ::raise(outcome.exit_signal);
  ::sigprocmask(SIG_UNBLOCK, &set, nullptr);
  return 128 + outcome.exit_signal;  // a signal whose default is to be ignored
}

}  // namespace fade::cli::run
