#include "session/rendezvous.hpp"

#include <sys/syscall.h>

#include <algorithm>
#include <unordered_set>

#include "base/clock.hpp"
#include "proc/living_thread.hpp"
#include "proc/processes.hpp"
#include "proc/signal_bits.hpp"
#include "ptrace/interrupted.hpp"
#include "ptrace/seccomp_filter.hpp"
#include "session/process_facts.hpp"
#include "session/stop_round.hpp"

namespace fade {
namespace {

constexpr int kServedAtOnce = 256;                 // stops
constexpr std::int64_t kLeavePeriod = 20'000'000;  // between looks at the wish to leave
constexpr PlannedCall kRestart[] = {{"restart_syscall", SYS_restart_syscall}};

// The thread has executed an int3, and its SIGTRAP is still pending.
bool has_trap_to_come(Tid tid) {
  const SignalSets signals = read_signal_sets(tid);
  return (signals.pending_alone & ~signals.blocked & kTrapBit) != 0;
}

}  // namespace

void Rendezvous::leave_when(std::function<bool()> asked) {
  leave_asked_ = std::move(asked);
  last_leave_look_ = -kLeavePeriod;
  gave_up_ = false;
}

Error Rendezvous::asked_to_leave() {
  return {"fade was asked to leave before it had come to the program", "nothing is recorded", {}, ECANCELED};
}

bool Rendezvous::gives_up() {
  if (!leave_asked_ || gave_up_) return gave_up_;
  const std::int64_t now = clock_.now();
  if (now - last_leave_look_ < kLeavePeriod) return false;
  last_leave_look_ = now;
  return gave_up_ = leave_asked_();
}

void Rendezvous::serve_stops() {
  for (int i = 0; i < kServedAtOnce; ++i) {
    const Stop stop = tracer_.next_if_any();
    if (stop.kind == Stop::Kind::None) return;
    handle_(stop);
  }
}

Thread* Rendezvous::stop_any(const Inferior& inferior) {
  std::vector<Tid> tids;
  for (const auto& [tid, thread] : inferior.threads) tids.push_back(tid);
  std::partition(tids.begin(), tids.end(), [&](Tid tid) { return tid == leader_of(inferior.pid); });
  return stop_one_of(std::move(tids), inferior.mark());
}

Thread* Rendezvous::stop_one_of(std::vector<Tid> tids, ProgramMark program) {
  const std::size_t all = tids.size();
  for (std::size_t i = 0; i < tids.size(); ++i) {
    const Tid tid = tids[i];
    if (!roster_.still_runs(program) || gives_up()) return nullptr;
    if (i < all && read_state(tid) == 'D') {  // in vfork, or a driver, which nothing interrupts: the last to be asked
      tids.push_back(tid);
      continue;
    }
    const auto stops = [&](std::chrono::milliseconds patience) {
      Thread* thread = roster_.thread(tid);  // may have ended while another was waited for
      return thread && thread->inferior->pid == program.pid && stop(*thread, patience);
    };
    if (stops(kPatience) || (read_state(tid) == 'R' && stops(kPatienceOnBusyMachine))) return roster_.thread(tid);
  }
  return nullptr;
}

// The trap of an int3 that the thread has just executed is handled first. If fade died during a remote call with that
// trap pending, the net could not tell where the trap came from, and the thread would continue behind the int3.
std::optional<Stop> Rendezvous::stop(Thread& thread, std::chrono::milliseconds patience) {
  const Tid tid = thread.tid;
  for (bool is_owed = false;;) {
    if (!roster_.thread(tid)) return std::nullopt;
    if (!is_owed) {  // again each time: any other stop takes the request away
      if (!Tracee(tid).interrupt()) return std::nullopt;
      roster_.thread(tid)->interrupted = true;
    }
    const auto stop = wait_for(tid, patience);
    if (!stop) return std::nullopt;
    const bool is_ours = stop->kind == Stop::Kind::Trap || stop->kind == Stop::Kind::Group;
    is_owed = is_ours && has_trap_to_come(tid);
    if (is_ours && !is_owed) return stop;
    handle_(*stop);
    if (has_left(stop->kind) || stop->kind == Stop::Kind::Group) return std::nullopt;
  }
}

// Stops of other tracees are handled: a thread in vfork waits for a child that waits for fade.
std::optional<Stop> Rendezvous::wait_for(Tid tid, std::chrono::nanoseconds patience) {
  const std::int64_t until = boottime_ns() + patience.count();
  while (roster_.thread(tid) && boottime_ns() < until && !gives_up()) {
    const Stop stop = turns_.next();
    if (stop.kind == Stop::Kind::Gone) return std::nullopt;
    if (stop.tid == tid && stop.kind != Stop::Kind::Exited && stop.kind != Stop::Kind::Killed) return stop;
    handle_(stop);
  }
  return std::nullopt;
}

void Rendezvous::settle(Thread& thread) {
  const Tracee tracee(thread.tid);
  thread.interrupted = true;
  tracee.interrupt();
  tracee.resume();
  if (const auto stop = wait_for(tracee.tid(), kPatience)) handle_(*stop);
}

void Rendezvous::go_on(const Thread& thread) {
  const Tracee tracee(thread.tid);
  take_up_call(tracee);
  tracee.resume();
}

void Rendezvous::take_up_call(const Tracee& tracee) {
  const auto registers = tracee.registers();
  auto again = registers ? called_once_more(*registers) : std::nullopt;
  if (registers && wants_restart_syscall(*registers) && !may_call(tracee.tid(), kRestart))
    again = begun_again(*registers);
  if (!again) return;
  const SignalSets signals = read_signal_sets(tracee.tid());
  if ((signals.pending & ~signals.blocked) == 0) tracee.set_registers(*again);
}

// A thread that has another stop first has that one handled.
std::vector<Tid> Rendezvous::stop_each(const std::vector<Tid>& tids, const std::function<void(Thread&)>& look,
                                       HoldClock* holds) {
  StopRound round(turns_, [this](Tid tid) {
    Thread* thread = roster_.thread(tid);
    if (thread) thread->interrupted = true;
    return thread && Tracee(tid).interrupt();
  });
  for (const Tid tid : tids) round.add(tid);
  while (const auto stop = gives_up() ? std::nullopt : round.next(kPatience)) {
    Thread* thread = round.has(stop->tid) ? roster_.thread(stop->tid) : nullptr;
    const bool is_asked = thread && (stop->kind == Stop::Kind::Trap || stop->kind == Stop::Kind::Group);
    if (is_asked) look(*thread);
    handle_(*stop);
    if (is_asked && holds) holds->held(stop->tid, round.held(stop->tid));
    if (is_asked || !roster_.thread(stop->tid)) round.done(stop->tid);
  }
  return round.rest();
}

// Threads that are born meanwhile are held, too. A thread in a delay of --inject stands still already.
void Rendezvous::hold_all(ProgramMark program, std::vector<Stop>& held, std::int64_t& since) {
  StopRound round(turns_, [this](Tid tid) {
    Thread* thread = roster_.thread(tid);
    if (thread) thread->interrupted = true;
    return thread && Tracee(tid).interrupt();
  });
  std::unordered_set<Tid> asked;
  const auto ask_new = [&] {
    if (!roster_.still_runs(program)) return;
    for (const auto& [tid, thread] : roster_.process(program.pid)->threads)
      if (thread->held_until == 0 && asked.insert(tid).second) round.add(tid);
  };
  // The threads that are held leave their processors to those that wait for one.
  const auto next = [&] {
    auto stop = gives_up() ? std::nullopt : round.next(kPatience);
    const auto is_ready = [](Tid tid) { return read_state(tid) == 'R'; };
    if (!stop && !gives_up() && std::ranges::any_of(round.rest(), is_ready)) stop = round.next(kPatienceOnBusyMachine);
    return stop;
  };
  for (ask_new(); roster_.still_runs(program); ask_new()) {
    const auto stop = next();
    if (!stop) return;
    const bool is_asked = round.has(stop->tid) && roster_.thread(stop->tid) &&
                          (stop->kind == Stop::Kind::Trap || stop->kind == Stop::Kind::Group) &&
                          !has_trap_to_come(stop->tid);
    if (!is_asked) handle_(*stop);
    if (!is_asked && roster_.thread(stop->tid)) continue;
    if (is_asked) Tracer::reap_stop(stop->tid);  // or it would be reported again and again
    if (is_asked) held.push_back(*stop);
    if (held.size() == 1 && since == 0) since = clock_.now();
    round.done(stop->tid);
  }
}

// No other thread than a held one can make a thread that the roster does not know yet.
bool Rendezvous::are_all_held(ProgramMark program, const std::vector<Stop>& held) const {
  std::unordered_set<Tid> still;
  for (const Stop& stop : held) still.insert(stop.tid);
  return roster_.still_runs(program) && !held.empty() &&
         std::ranges::all_of(read_thread_ids(program.pid), [&](Tid tid) {
           const Thread* const thread = roster_.thread(tid);
           return still.contains(tid) || (thread && thread->held_until != 0) || has_ended(tid);
         });
}

Result<void> Rendezvous::with_all_held(ProgramMark program, const std::function<void(Tid)>& work,
                                       std::int64_t& held_ns) {
  std::vector<Stop> held;
  std::int64_t since = 0;
  hold_all(program, held, since);
  const bool are_all = are_all_held(program, held);
  if (are_all) work(held.front().tid);
  for (const Stop& stop : held)
    if (roster_.thread(stop.tid)) handle_(stop);
  held_ns = held.empty() ? 0 : clock_.now() - since;
  if (are_all) return {};
  if (!roster_.still_runs(program)) return tl::unexpected(process_gone(program.pid));
  return fail("not all of its threads stop: system calls that nothing interrupts, or no CPU for them", {},
              "try again later", EAGAIN);
}

Result<void> Rendezvous::with_guide(Inferior& inferior, const std::function<Result<void>(Thread&)>& work,
                                    HoldClock& holds) {
  const std::int64_t since = clock_.now();
  Thread* guide = stop_any(inferior);
  if (!guide)
    return fail("none of its threads stops: system calls that nothing interrupts, or no CPU for it", {},
                "try again later", EAGAIN);
  const auto registers = Tracee(guide->tid).registers();
  Result<void> done = registers && registers->is_64_bit()
                          ? work(*guide)
                          : Result<void>(fail("it is a 32-bit program", {}, {}, ENOTSUP));
  const Tid tid = guide->tid;
  settle(*guide);
  holds.held(tid, clock_.now() - since);
  return done;
}

}  // namespace fade
