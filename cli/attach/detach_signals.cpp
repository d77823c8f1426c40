#include "cli/attach/detach_signals.hpp"

#include <atomic>

namespace fade::cli::attach {
namespace {

// A handler has nothing but globals.
std::atomic<bool> detach{false}, stop{false};

void ask_to_detach(int) { detach = true; }
void ask_to_stop(int) { stop = true; }

void (*reaction_to(int signal))(int) {
  switch (signal) {
    case SIGTSTP: return ask_to_stop;
    case SIGTTIN:
    case SIGPIPE: return SIG_IGN;
    default: return ask_to_detach;
  }
}

}  // namespace

DetachSignals::DetachSignals() {
  detach = stop = false;
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    ::sigaction(kSignals[i], nullptr, &before_[i]);
    if (before_[i].sa_handler == SIG_IGN) continue;
    struct sigaction action {};
    action.sa_handler = reaction_to(kSignals[i]);
    ::sigaction(kSignals[i], &action, nullptr);
  }
}

DetachSignals::~DetachSignals() {
  for (std::size_t i = 0; i < kSignals.size(); ++i) ::sigaction(kSignals[i], &before_[i], nullptr);
}

bool DetachSignals::detach_asked() { return detach; }
bool DetachSignals::stop_asked() { return stop; }

}  // namespace fade::cli::attach
