#include "supervisor/job_control.hpp"

#include <time.h>

namespace fade {
namespace {

constexpr int kStops[] = {SIGTSTP, SIGTTIN, SIGTTOU};

}  // namespace

JobControl::JobControl() {
  ::sigemptyset(&held_);
  ::pthread_sigmask(SIG_BLOCK, nullptr, &before_);
  for (const int signal : kStops)
    if (::sigismember(&before_, signal) == 0) ::sigaddset(&held_, signal);  // what we were given blocked stays so
  ::pthread_sigmask(SIG_BLOCK, &held_, nullptr);
}

JobControl::~JobControl() {
  const timespec now{};
  while (::sigtimedwait(&held_, nullptr, &now) > 0) {
  }
  ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

bool JobControl::stop_asked() const {
  sigset_t waiting;
  ::sigpending(&waiting);
  for (const int signal : kStops)
    if (::sigismember(&waiting, signal) == 1 && ::sigismember(&held_, signal) == 1) return true;
  return false;
}

// What waits has its usual effect. A SIGCONT that came before has taken it away.
void JobControl::stop() const {
  ::pthread_sigmask(SIG_UNBLOCK, &held_, nullptr);
  ::pthread_sigmask(SIG_BLOCK, &held_, nullptr);
}

}  // namespace fade
