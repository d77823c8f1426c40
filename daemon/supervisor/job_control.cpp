#include "supervisor/job_control.hpp"

#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include "base/fd.hpp"

namespace fade {
namespace {

constexpr int kStops[] = {SIGTSTP, SIGTTIN, SIGTTOU};

Fd terminal() { return Fd(::open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)); }

}  // namespace

JobControl::JobControl() {
  ::sigemptyset(&held_);
  ::pthread_sigmask(SIG_BLOCK, nullptr, &before_);
  for (const int signal : kStops)
    // signals that were blocked at the start stay blocked
    if (::sigismember(&before_, signal) == 0) ::sigaddset(&held_, signal);
  ::pthread_sigmask(SIG_BLOCK, &held_, nullptr);
}

JobControl::~JobControl() {
  const timespec now{};
  while (::sigtimedwait(&held_, nullptr, &now) > 0) {}
  ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

bool JobControl::stop_asked() const {
  sigset_t waiting;
  ::sigpending(&waiting);
  for (const int signal : kStops)
    if (::sigismember(&waiting, signal) == 1 && ::sigismember(&held_, signal) == 1) return true;
  return false;
}

// A signal that waits has its usual effect. An earlier SIGCONT has discarded it.
void JobControl::stop() const {
  ::pthread_sigmask(SIG_UNBLOCK, &held_, nullptr);
  ::pthread_sigmask(SIG_BLOCK, &held_, nullptr);
}

bool JobControl::has_terminal(Pid program) {
  const pid_t group = ::getpgid(program.value());
  if (group <= 0 || group == ::getpgrp() || ::getsid(program.value()) != ::getsid(0)) return false;
  const Fd tty = terminal();
  return tty && ::tcgetpgrp(tty.get()) == group;
}

void JobControl::stop_for(Pid program) {
  const pid_t group = ::getpgid(program.value());
  ::raise(SIGSTOP);
  if (const Fd tty = terminal(); tty && ::tcgetpgrp(tty.get()) == ::getpgrp()) ::tcsetpgrp(tty.get(), group);
  ::kill(-group, SIGCONT);
}

}  // namespace fade
