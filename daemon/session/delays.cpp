#include "session/delays.hpp"

#include <signal.h>

#include <algorithm>
#include <chrono>

#include "proc/processes.hpp"
#include "proc/signal_bits.hpp"
#include "ptrace/tracee.hpp"
#include "ptrace/tracer.hpp"

namespace fade {
namespace {

// A signal does not wait for a delay, as it would not wait for a slow call. Timers and news come again and again, and
// would leave nothing of a delay.
constexpr std::uint64_t kLeisurely = signal_bit(SIGALRM) | signal_bit(SIGVTALRM) | signal_bit(SIGPROF) |
                                     signal_bit(SIGCHLD) | signal_bit(SIGCONT) | signal_bit(SIGURG) |
                                     signal_bit(SIGWINCH) | signal_bit(SIGIO) | kTrapBit;
constexpr std::int64_t kTick = 50'000'000;          // of the tracer itself
constexpr std::int64_t kSignalsEvery = 20'000'000;  // each look at them reads a file for each held thread
constexpr std::int64_t kMillisecond = 1'000'000;

constexpr std::int64_t kEnded = 1;  // in place of the end of a delay: it was ended

bool is_wanted(Tid tid) {
  const SignalSets signals = read_signal_sets(tid);
  return (signals.pending & ~signals.blocked & ~signals.ignored & ~kLeisurely) != 0;
}

}  // namespace

void Delays::hold(const Thread& thread) {
  Tracer::reap_stop(thread.tid);  // or it would be reported again and again
  held_.push_back(thread.tid);
  set_tick(clock_.now());
}

// A thread that has ended is no longer in the roster, or its number is that of a thread without a delay.
bool Delays::goes_on(Tid tid, std::int64_t now, bool looks_for_signals) const {
  Thread* const thread = roster_.thread(tid);
  if (!thread || thread->held_until == 0) return true;
  if (thread->held_until > now && !(looks_for_signals && is_wanted(tid))) return false;
  if (thread->held_until > now || thread->held_until == kEnded)
    roster_.note(*thread, "note", 0, "a delay of --inject ended early");
  thread->held_until = 0;
  ended_(*thread, now);
  Tracee(tid).resume();
  return true;
}

void Delays::look() {
  if (held_.empty()) return;
  const std::int64_t now = clock_.now();
  const bool looks_for_signals = now - looked_ >= kSignalsEvery;
  if (now < due_ && !looks_for_signals) return;
  if (looks_for_signals) looked_ = now;
  std::erase_if(held_, [&](Tid tid) { return goes_on(tid, now, looks_for_signals); });
  set_tick(now);
}

void Delays::release(const Inferior* of) {
  for (const Tid tid : held_) {
    Thread* const thread = roster_.thread(tid);
    if (thread && (!of || thread->inferior == of)) thread->held_until = kEnded;
  }
  due_ = 0;
  look();
}

// A delay is as exact as a millisecond.
void Delays::set_tick(std::int64_t now) {
  std::int64_t next = kTick + 1;
  for (const Tid tid : held_)
    if (const Thread* const thread = roster_.thread(tid)) next = std::min(next, thread->held_until - now);
  due_ = now + next;
  const auto period = std::chrono::milliseconds(std::max<std::int64_t>(1, (next + kMillisecond - 1) / kMillisecond));
  tick_.every(next > kTick ? std::chrono::milliseconds(0) : period);
}

}  // namespace fade
