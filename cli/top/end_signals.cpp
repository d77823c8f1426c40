#include "cli/top/end_signals.hpp"

#include <signal.h>

#include <atomic>

namespace fade::cli::top {
namespace {

std::atomic<bool> end_asked{false};  // a handler has nothing but globals

void ask_to_end(int) { end_asked = true; }

}  // namespace

EndSignals::EndSignals() {
  for (const int signal : {SIGINT, SIGQUIT, SIGTERM, SIGHUP}) {
    struct sigaction action {};
    ::sigaction(signal, nullptr, &action);
    if (action.sa_handler == SIG_IGN) continue;
    action = {};
    action.sa_handler = ask_to_end;
    ::sigaction(signal, &action, nullptr);
  }
  ::signal(SIGPIPE, SIG_IGN);
}

bool EndSignals::asked() { return end_asked; }

}  // namespace fade::cli::top
