#include "supervisor/signal_relay.hpp"

#include <atomic>
#include <cerrno>

#include "base/clock.hpp"

namespace fade {
namespace {

// A handler has nothing but globals.
std::atomic<pid_t> receiver{0};
std::atomic<std::int64_t> last_request{0};
std::atomic<bool> let_go{false}, interrupted_by_signal{false};
// Between these: a wish. Sooner it is one signal that came twice, to us and to our process group.
constexpr std::int64_t kSoonest = 200'000'000, kLatest = 3'000'000'000;

void ask_to_let_go() {
  const std::int64_t now = clock_ns(CLOCK_MONOTONIC);
  const std::int64_t since = now - last_request.exchange(now);
  if (since > kSoonest && since < kLatest) let_go = true;
}

void relay(int signal, siginfo_t* info, void*) {
  const int saved = errno;
  const bool ends = signal == SIGINT || signal == SIGTERM;
  const pid_t to = receiver;
  if (signal != SIGUSR1 && signal != SIGUSR2) interrupted_by_signal = true;
  if (to == 0) {
    if (ends) let_go = true;
  } else if (info->si_code != SI_KERNEL) {  // that is the terminal
    ::kill(to, signal);
    if (ends) ask_to_let_go();
  }
  errno = saved;
}

}  // namespace

SignalRelay::SignalRelay(pid_t to) {
  receiver = to;
  last_request = 0;
  let_go = interrupted_by_signal = false;
  struct sigaction action {};
  action.sa_sigaction = relay;
  action.sa_flags = SA_SIGINFO;
  for (std::size_t i = 0; i < kSignals.size(); ++i) ::sigaction(kSignals[i], &action, &before_[i]);
}

SignalRelay::~SignalRelay() {
  for (std::size_t i = 0; i < kSignals.size(); ++i) ::sigaction(kSignals[i], &before_[i], nullptr);
}

void SignalRelay::program_ended() { receiver = 0; }

bool SignalRelay::let_go_asked() const { return let_go; }

bool SignalRelay::interrupted() const { return interrupted_by_signal; }

}  // namespace fade
