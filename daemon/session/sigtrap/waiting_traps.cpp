#include "session/sigtrap/waiting_traps.hpp"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>

#include "proc/processes.hpp"
#include "proc/signal_bits.hpp"
#include "ptrace/tracee.hpp"

namespace fade {
namespace {

constexpr int kMostRounds = 4;
constexpr std::int64_t kLongest = 200'000'000;  // a signal waits, because a program may change its mask for a moment

constexpr const char* kWhy =
    "it blocks SIGTRAP and was sent one, which cannot wait for the program where breakpoints are";

bool is_from_itself(const siginfo_t& info, Pid pid) {
  return (info.si_code == SI_USER || info.si_code == SI_TKILL || info.si_code == SI_QUEUE) &&
         info.si_pid == read_own_pid(pid);
}

}  // namespace

bool WaitingTraps::holds_back(Thread& thread) {
  if (!thread.inferior->watched || !guard_.holds_back(thread)) return false;
  on_stop(thread);
  return true;
}

void WaitingTraps::look() {
  if (engines_.is_on())
    for (const auto& [pid, inferior] : roster_.processes()) TrapGuard::look_after(*inferior);
  look_at_waiting();
}

// A program looks for the signal that it sent itself in its next system call. A signal of another process may wait a
// moment.
void WaitingTraps::on_stop(Thread& thread) {
  Inferior& inferior = *thread.inferior;
  if (thread.trap.waiting && TrapGuard::taker(thread)) {
    send(thread, thread, TrapGuard::taker(thread));
    return take_up(thread);
  }
  if (inferior.trap_waits_since == 0) inferior.trap_waits_since = std::max<std::int64_t>(1, clock_.now());
  if (!thread.trap.waiting || !is_from_itself(*thread.trap.waiting, inferior.pid)) return Rendezvous::go_on(thread);
  tracer_.reap_stop(thread.tid);  // other threads stop meanwhile
  give_back(thread);
}

// The signal keeps its siginfo where the stopped thread can send it itself.
void WaitingTraps::send(const Thread& stopped, Thread& keeper, const Thread* taker) {
  const auto info = std::exchange(keeper.trap.waiting, {});
  if (!info) return;
  if (!taker && !TrapGuard::is_for_the_process(*info)) taker = &keeper;
  const Inferior& inferior = *stopped.inferior;
  const bool can_speak = read_own_pid(inferior.pid) == inferior.pid.value();
  if (can_speak && inferior.space().trap_signal().send(stopped.tid, taker ? taker->tid : Tid(), *info)) return;
  if (taker) guard_.send_to(*taker, *info);
  else guard_.send_to_process(inferior, *info);
}

// The kernel takes up the system call that a stop interrupted only behind another stop.
void WaitingTraps::take_up(Thread& stopped) {
  stopped.interrupted = true;
  Tracee(stopped.tid).interrupt();
  Tracee(stopped.tid).resume();
}

void WaitingTraps::look_at_waiting() {
  std::vector<Pid> waiting;
  for (const auto& [pid, inferior] : roster_.processes()) {
    if (inferior->trap_waits_since == 0 || !inferior->watched) continue;
    bool waits = false;
    for (const auto& [tid, thread] : inferior->threads)
      if (thread->trap.waiting) {
        Thread* const taker = TrapGuard::taker(*thread);
        if (taker) guard_.send_to(*taker, *std::exchange(thread->trap.waiting, {}));
        else waits = true;
      }
    if (!waits) inferior->trap_waits_since = 0;
    else if (clock_.now() - inferior->trap_waits_since > kLongest) waiting.push_back(pid);
  }
  for (const Pid pid : waiting) {
    const Inferior* const inferior = roster_.process(pid);
    Thread* const thread = inferior ? rendezvous_.stop_any(*inferior) : nullptr;
    if (!thread) continue;  // not now
    tracer_.reap_stop(thread->tid);
    give_back(*thread);
  }
}

// A pending trap of fade must not be blocked: its thread would continue behind the int3. Nor may a thread meet the int3
// of a pad with SIGTRAP blocked.
void WaitingTraps::block(std::vector<Tid> tids, const AddressSpace& space) {
  for (int round = 0; round < kMostRounds && !tids.empty(); ++round) {
    std::vector<Tid> again;
    rendezvous_.stop_each(
        tids,
        [&](Thread& thread) {
          const Tracee tracee(thread.tid);
          const auto registers = tracee.registers();
          if (registers && read_signal_sets(thread.tid).pending & kTrapBit) return again.push_back(thread.tid);
          const auto own = registers && space.our_code().contains(registers->ip())
                               ? space.our_code().own_registers(*registers)
                               : std::nullopt;
          if (own) tracee.change_registers(*registers, *own);
          guard_.block_again(thread);
        },
        nullptr);
    tids = std::move(again);
  }
}

// The text is restored first: a thread that blocks SIGTRAP for the kernel must meet no breakpoint. Then every thread
// stops once, so that no trap of fade is pending, and blocks the signals of the program's mask. Then the signal is
// sent, to wait as it would without fade.
void WaitingTraps::give_back(Thread& stopped) {
  const Pid pid = stopped.inferior->pid;
  const Tid tid = stopped.tid;
  const ProgramMark mark = stopped.inferior->mark();
  const std::shared_ptr<Program> program = stopped.inferior->program;
  engines_.leave(*stopped.inferior, tid);
  std::vector<Tid> others;
  bool is_shared = false;
  for (const auto& [number, inferior] : roster_.processes()) {
    if (inferior->program != program) continue;
    is_shared |= number != pid;
    inferior->watched = false;
    inferior->breakpoints_removed = true;
    inferior->trap_waits_since = 0;
    for (const auto& [other, thread] : inferior->threads) {
      engines_.thread_ended(*thread, true);
      if (other != tid) others.push_back(other);
    }
  }
  sink_.notice(Lifecycle{clock_.now(), stopped.inferior->id, stopped.id, "unwatched", 0, kWhy});
  notes_.push_back(fmt::format(
      "process {} was watched no longer from some moment on: {} (fade-query lifecycle says when)", pid, kWhy));
  block(std::move(others), *program->space);
  if (!roster_.thread(tid) || !roster_.still_runs(mark)) return;  // killed meanwhile, or it executed another program
  guard_.block_again(stopped);
  const auto foothold = foothold_of(pid, program->space->memory());
  const bool is_given = foothold && program->space->trap_signal().give_back(tid, foothold->gadgets);
  if (is_given && !is_shared)
    program->space->trap_signal().set_program_action({}, tid);  // traps of other processes still go through the net
  for (const auto& [other, thread] : stopped.inferior->threads) send(stopped, *thread, nullptr);
  take_up(stopped);
}

}  // namespace fade
