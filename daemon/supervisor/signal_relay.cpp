#include "supervisor/signal_relay.hpp"

#include <sys/prctl.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <iterator>

#include "base/clock.hpp"

namespace fade {
namespace {

// All that a program may wait for, and that would end fade. SIGALRM is the tick's too (Tracer).
constexpr int kRelayed[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF,
                            SIGURG, SIGWINCH, SIGIO, SIGPWR, SIGXCPU, SIGSTKFLT};
constexpr int kInterrupts[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP};

// A handler has nothing but globals.
std::atomic<pid_t> receiver{0};
std::atomic<int> parents_death{0};  // the signal that was asked for; ours comes as SIGRTMAX
std::atomic<std::int64_t> last_request{0};
std::atomic<bool> let_go{false}, interrupted_by_signal{false};
// Between these: a wish. Sooner it is one signal that came twice, to us and to our process group.
constexpr std::int64_t kSoonest = 200'000'000, kLatest = 3'000'000'000;

void ask_to_let_go() {
  const std::int64_t now = clock_ns(CLOCK_MONOTONIC);
  const std::int64_t since = now - last_request.exchange(now);
  if (since > kSoonest && since < kLatest) let_go = true;
}

// Not the kernel, which speaks for the terminal, and not a timer of ours.
bool is_from_somebody(const siginfo_t& info) { return info.si_code <= 0 && info.si_code != SI_TIMER; }

void pass_on(pid_t to, int signal, const siginfo_t& info) {
  if (signal == SIGRTMAX && parents_death != 0) ::kill(to, parents_death);
  else if (info.si_code == SI_QUEUE) ::sigqueue(to, signal, info.si_value);
  else ::kill(to, signal);
}

void relay(int signal, siginfo_t* info, void*) {
  const int saved = errno;
  const bool ends = signal == SIGINT || signal == SIGTERM;
  const pid_t to = receiver;
  if (std::ranges::find(kInterrupts, signal) != std::end(kInterrupts)) interrupted_by_signal = true;
  if (to == 0) {
    if (ends) let_go = true;
  } else if (is_from_somebody(*info)) {
    pass_on(to, signal, *info);
    if (ends) ask_to_let_go();
  }
  errno = saved;
}

// That signal may be one that cannot be caught; another one can.
int take_over_parents_death() {
  int asked = 0;
  if (::prctl(PR_GET_PDEATHSIG, &asked) != 0 || asked == 0) return 0;
  return ::prctl(PR_SET_PDEATHSIG, SIGRTMAX) == 0 ? asked : 0;
}

}  // namespace

SignalRelay::SignalRelay(pid_t to) {
  receiver = to;
  last_request = 0;
  let_go = interrupted_by_signal = false;
  struct sigaction action {};
  action.sa_sigaction = relay;
  action.sa_flags = SA_SIGINFO;
  const auto take = [&](int signal) {
    struct sigaction before {};
    if (::sigaction(signal, &action, &before) == 0) before_.emplace_back(signal, before);
  };
  std::ranges::for_each(kRelayed, take);
  for (int signal = SIGRTMIN; signal <= SIGRTMAX; ++signal) take(signal);
  parents_death = of_parents_death_ = take_over_parents_death();
}

SignalRelay::~SignalRelay() {
  if (of_parents_death_ != 0) ::prctl(PR_SET_PDEATHSIG, of_parents_death_);
  parents_death = 0;
  for (const auto& [signal, before] : before_) ::sigaction(signal, &before, nullptr);
}

void SignalRelay::program_ended() { receiver = 0; }

bool SignalRelay::let_go_asked() const { return let_go; }

bool SignalRelay::interrupted() const { return interrupted_by_signal; }

}  // namespace fade
