#include "supervisor/signal_relay.hpp"

#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <iterator>

#include "base/clock.hpp"
#include "supervisor/relayed_signals.hpp"

namespace fade {
namespace {

constexpr int kInterrupts[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP};
constexpr int kFromTerminal[] = {SIGINT, SIGQUIT, SIGHUP, SIGWINCH};

bool is_one_of(int signal, const auto& set) { return std::ranges::find(set, signal) != std::end(set); }

// A handler has nothing but globals.
std::atomic<Pid> receiver{0};
std::atomic<const SignalWitness*> helper{nullptr};
std::atomic<int> parents_death{0};  // the signal that was asked for; ours comes as SIGRTMAX
std::atomic<bool> interrupted_by_signal{false};
LetGoWish direct_wish;  // without a witness
struct sigaction tick {};

// Not the kernel, and not a timer of ours.
bool has_sender(const siginfo_t& info) { return info.si_code <= 0 && info.si_code != SI_TIMER; }

bool is_of_terminal(int signal, const siginfo_t& info) {
  return info.si_code == SI_KERNEL && is_one_of(signal, kFromTerminal);
}

SignalNote note_of(int signal, const siginfo_t& info) {
  const bool has_pid = has_sender(info);
  return {.key = {signal, info.si_code, has_pid ? Pid::of(info.si_pid) : Pid()},
          .parent = Pid::of(::getppid()),
          .when = clock_ns(CLOCK_MONOTONIC),
          .value = has_pid ? info.si_value : sigval{}};
}

// Without a witness. The program's own signals are for its group, more likely than for its parent.
void pass_on(Pid to, const SignalNote& note) {
  if (note.key.code == SI_KERNEL || note.key.sender == to) return;
  if (note.key.code == SI_QUEUE) ::sigqueue(to.value(), note.key.signal, note.value);
  else ::kill(to.value(), note.key.signal);
  direct_wish.request(note.key.signal, note.when);
}

void relay_to(Pid to, int signal, const siginfo_t& info) {
  if (signal == SIGRTMAX && parents_death != 0) {
    ::kill(to.value(), parents_death);
    return;
  }
  const SignalNote note = note_of(signal, info);
  const SignalWitness* witness = helper;
  if (!witness || !witness->tell(note)) pass_on(to, note);
}

void relay(int signal, siginfo_t* info, void* context) {
  const int saved = errno;
  const Pid to = receiver;
  const bool is_own = has_sender(*info) && info->si_pid == to.value();
  if (is_one_of(signal, kInterrupts) && !is_own) interrupted_by_signal = true;
  if (signal == SIGALRM && info->si_code == SI_TIMER) {
    if ((tick.sa_flags & SA_SIGINFO) != 0) tick.sa_sigaction(signal, info, context);
  } else if (to == 0) {
    if (signal == SIGINT || signal == SIGTERM) direct_wish.ask();
  } else if (has_sender(*info) || is_of_terminal(signal, *info)) {
    relay_to(to, signal, *info);
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

SignalRelay::SignalRelay(Pid to, const SignalWitness& witness) : witness_(witness) {
  receiver = to;
  helper = &witness;
  direct_wish.forget();
  interrupted_by_signal = false;
  ::sigaction(SIGALRM, nullptr, &tick);
  struct sigaction action {};
  action.sa_sigaction = relay;
  action.sa_flags = SA_SIGINFO;
  sigfillset(&action.sa_mask);  // the handler of a second signal would run before that of the first
  const sigset_t relayed = relayed_signals();
  for (int signal = 1; signal <= SIGRTMAX; ++signal) {
    struct sigaction before {};
    if (sigismember(&relayed, signal) != 1 || ::sigaction(signal, &action, &before) != 0) continue;
    before_.emplace_back(signal, before);
  }
  parents_death = of_parents_death_ = take_over_parents_death();
}

SignalRelay::~SignalRelay() {
  if (of_parents_death_ != 0) ::prctl(PR_SET_PDEATHSIG, of_parents_death_);
  parents_death = 0;
  for (const auto& [signal, before] : before_) ::sigaction(signal, &before, nullptr);
  helper = nullptr;
}

void SignalRelay::program_ended() { receiver = 0; }

bool SignalRelay::let_go_asked() const { return direct_wish.is_asked() || witness_.let_go_asked(); }

bool SignalRelay::interrupted() const { return interrupted_by_signal; }

}  // namespace fade
