#include "cli/attach/held_signals.hpp"

#include <initializer_list>

namespace fade::cli::attach {

HeldSignals::HeldSignals() {
  sigset_t held;
  ::sigemptyset(&held);
  for (const int signal : {SIGINT, SIGQUIT, SIGTERM, SIGHUP}) ::sigaddset(&held, signal);
  ::pthread_sigmask(SIG_BLOCK, &held, &before_);
}

}  // namespace fade::cli::attach
