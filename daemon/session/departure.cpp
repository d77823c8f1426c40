#include "session/departure.hpp"

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/log.hpp"
#include "proc/processes.hpp"
#include "proc/signal_bits.hpp"
#include "session/process_facts.hpp"
#include "session/stop_round.hpp"

namespace fade {
namespace {

// Until a thread stops; in vfork or in a driver it may not. All of let_go() is to take less than 2 s where some do not.
constexpr std::chrono::milliseconds kForRound{1000}, kForOne{300};
constexpr int kMostSteps = 16;  // no slot holds more instructions

bool is_birth(Stop::Kind kind) {
  return kind == Stop::Kind::Fork || kind == Stop::Kind::Vfork || kind == Stop::Kind::Clone;
}
bool is_end(Stop::Kind kind) {
  return kind == Stop::Kind::Exited || kind == Stop::Kind::Killed || kind == Stop::Kind::Gone;
}

// The thread is behind the int3 with which a tap asks the tracer.
bool is_question(const Thread& thread, RemoteAddr trap) {
  const TapArea* const taps = thread.space().taps();
  return taps && taps->question_at(trap);
}

// A stop that fade asked for comes before the trap of an int3 that the thread has just executed.
bool is_owed_trap(Tid tid) { return (read_signal_sets(tid).pending & kTrapBit) != 0; }

}  // namespace

// Moves a thread to where it would stand without fade. Signals that came meanwhile are sent again.
Departure::Place Departure::stand_aside(const Thread& thread, const Tracee& tracee) const {
  std::vector<int> met;
  const Place place = step_aside(thread, tracee, met);
  for (const int signal : met) ::syscall(SYS_tkill, tracee.tid().value(), signal);
  return place;
}

// `met`: signals that came instead of the trap of a step.
Departure::Place Departure::step_aside(const Thread& thread, const Tracee& tracee, std::vector<int>& met) const {
  const AddressSpace& space = thread.space();
  const auto has_no_frame_there = [&](RemoteAddr sp) {
    return !thread.inferior->had_leftovers || !space.our_code().is_referred_to(sp);
  };
  for (int steps = 0; steps <= kMostSteps; ++steps) {
    const auto registers = tracee.registers();
    if (!registers) return Place::Left;
    const auto own = space.our_code().own_registers(*registers);
    if (own && !tracee.change_registers(*registers, *own)) return Place::Left;
    if (own || !space.our_code().contains(registers->ip()))
      return has_no_frame_there(registers->sp()) ? Place::Outside : Place::Inside;
    if (!tracee.step()) return Place::Left;
    const Stop stop = p_.tracer.next_of(tracee.tid());
    if (has_left(stop.kind)) return Place::Left;
    if (stop.kind == Stop::Kind::Signal && stop.signal != SIGTRAP) met.push_back(stop.signal);
  }
  return Place::Inside;
}

void Departure::detach(Thread& thread, const Tracee& tracee, int signal) const {
  if (signal == 0 && thread.interrupted) Rendezvous::take_up_call(tracee);
  p_.guard.let_go(thread);
  tracee.detach(signal);
}

void Departure::keeps_slots(Tid tid) {
  if (const Thread* const thread = p_.roster.thread(tid)) thread->inferior->slots_may_be_in_use = true;
}

// True: the thread is detached. False: it had to go on for a moment, and will stop again.
bool Departure::try_detach(const Stop& stop) {
  const Tracee tracee(stop.tid);
  Thread* thread = p_.roster.thread(stop.tid);
  const bool is_signal = stop.kind == Stop::Kind::Signal;
  const auto registers = tracee.registers();
  if (!thread || !registers) {
    tracee.detach(is_signal ? stop.signal : 0);
    return true;
  }
  if (std::exchange(thread->inferior->is_fresh_copy, false)) thread->space().mend_copy(stop.tid);
  const Site* site = thread->space().find(registers->ip() - 1);
  const bool may_owe = site || is_question(*thread, registers->ip() - 1);
  if (may_owe && !is_signal && is_owed_trap(stop.tid)) {
    tracee.resume();
    tracee.interrupt();
    return false;
  }
  if (!is_signal || stop.signal != SIGTRAP) site = nullptr;
  const RemoteAddr trap = registers->ip() - 1;
  if (site && (site->needs_proof() || site->is_entry_pad(trap)))
    if (const auto info = tracee.siginfo(); info && info->si_code != SI_KERNEL) site = nullptr;
  if (is_signal && stop.signal == SIGTRAP && is_question(*thread, trap)) {  // the taps are off: it goes on without one
    tracee.interrupt();
    tracee.resume();
    return false;
  }
  if (site) {  // the trap is not delivered yet: should fade die here, the thread must continue in the slot
    tracee.set_ip(site->beyond(trap));
    tracee.interrupt();
    tracee.resume();
    return false;
  }
  const Place place = stand_aside(*thread, tracee);
  if (place == Place::Left) return false;
  thread->inferior->slots_may_be_in_use |= place == Place::Inside;
  detach(*thread, tracee, is_signal ? stop.signal : 0);
  return true;
}

// Waits for one thread alone. False: it does not stop.
bool Departure::leave_one(Tid tid, std::int64_t since) {
  if (!ask(tid)) return true;
  for (;;) {
    const auto seen = p_.tracer.next_of(tid, kForOne);
    if (!seen) return false;
    if (is_end(seen->kind)) p_.tracer.reap_end(tid);
    if (is_end(seen->kind) || !p_.roster.thread(tid)) break;
    if (leave_at(seen->kind == Stop::Kind::Exec ? p_.tracer.next_if_stopped(tid) : *seen)) break;
  }
  holds_.held(tid, p_.clock.now() - since);
  gone_.insert(tid);
  return true;
}

void Departure::leave_others() {
  StopRound round(p_.turns, [this](Tid tid) { return ask(tid); });
  for (const auto& [tid, thread] : p_.roster.threads())
    if (!kept_.contains(tid) && !gone_.contains(tid)) round.add(tid);
  while (const auto stop = round.next(kForRound)) {
    if (is_birth(stop->kind) && stop->message > 0) round.add(stop->child());
    if (stop->kind == Stop::Kind::Exec) {
      if (!leave_program(*stop)) round.add(stop->tid);
    } else if (kept_.contains(stop->tid) || !p_.roster.thread(stop->tid)) {
      p_.handle(*stop);
    } else if (is_end(stop->kind) || leave_at(*stop)) {
      holds_.held(stop->tid, round.held(stop->tid));
      round.done(stop->tid);
      gone_.insert(stop->tid);
    }
  }
  for (const Tid tid : p_.unclaimed.all())
    if (gone_.insert(tid).second) Tracee(tid).detach();
  for (const Tid tid : round.rest()) {
    keeps_slots(tid);
    gone_.insert(tid);  // it is not asked again; the kernel detaches it when fade ends
  }
}

bool Departure::ask(Tid tid) {
  if (Thread* thread = p_.roster.thread(tid)) thread->interrupted = true;
  if (Tracee(tid).interrupt()) return true;
  p_.tracer.reap_end(tid);  // it has ended, and its parent waits until we have taken note
  gone_.insert(tid);
  return false;
}

// The new program begins as any other that is not watched. Its only thread has the pid of the process, whichever thread
// executed it. False: that thread is asked to stop once more.
bool Departure::leave_program(const Stop& stop) {
  p_.handle(stop);
  kept_.erase(stop.tid);
  gone_.erase(stop.tid);
  return !ask(stop.tid);
}

// True: the thread is detached, or has ended.
bool Departure::leave_at(const Stop& stop) {
  switch (stop.kind) {
    case Stop::Kind::Fork:
    case Stop::Kind::Vfork:
    case Stop::Kind::Clone: p_.learn_of_child(stop); return try_detach(stop);
    case Stop::Kind::Exec: return leave_program(stop);
    case Stop::Kind::Exit: detach(*p_.roster.thread(stop.tid), Tracee(stop.tid), 0); return true;
    case Stop::Kind::Signal:
    case Stop::Kind::Group:
    case Stop::Kind::Trap:
    case Stop::Kind::VforkDone:
    case Stop::Kind::Syscall: return try_detach(stop);
    case Stop::Kind::None: return false;
    case Stop::Kind::Gone:
    case Stop::Kind::Exited:
    case Stop::Kind::Killed: return true;
  }
  return true;
}

// With no other thread left in fade's code that code can go. It stays in a process that shares its memory with another
// tracee, and where a handler may return through it.
void Departure::remove_pages(ProgramMark program, Tid keeper, const Foothold& foothold) {
  Inferior* inferior = p_.roster.process(program.pid);
  AddressSpace* space = inferior->program->space.get();
  if (inferior->slots_may_be_in_use || inferior->program.use_count() > 1 || !space->has_net()) return;
  const bool uses_signal =
      space->trap_signal().has_program_action() ||
      space->trap_signal().last_program_action().handler != 0;  // it may run for the last time (SA_RESETHAND)
  auto done = space->trap_signal().give_back(keeper, foothold.gadgets);
  if (done && uses_signal && inferior->threads.size() > 1) {
    look_again(program, keeper);
    if (!p_.roster.still_runs(program)) return;
    inferior = p_.roster.process(program.pid);
    space = inferior->program->space.get();
  }
  if (done && uses_signal && !foothold.gadgets.sigreturn) inferior->slots_may_be_in_use = true;
  if (done && !inferior->slots_may_be_in_use) done = space->remove(keeper, foothold.gadgets);
  if (!done) log::debug("fade's pages stay in process {}: {}", program.pid, done.error().text());
}

// A signal of the program may have sent a thread into the net's handler before the action was the program's own again.
// No further thread comes there, and a thread that is there does not sleep.
void Departure::look_again(ProgramMark program, Tid keeper) {
  p_.tracer.reap_stop(keeper);
  Inferior& inferior = *p_.roster.process(program.pid);
  for (const Tid tid : read_thread_ids(program.pid)) {
    if (tid == keeper || read_state(tid) == 'S') continue;
    if (const auto seized = Tracer::seize(tid, false); !seized) {
      inferior.slots_may_be_in_use |= seized.error().code != ESRCH;
      continue;
    }
    if (!p_.roster.thread(tid)) p_.roster.add_thread(inferior, tid, kUnknownDevice);
    gone_.erase(tid);
  }
  leave_others();
}

// Threads that were born to the process meanwhile.
void Departure::leave_the_rest(ProgramMark program, Tid keeper) {
  std::vector<Tid> others;
  for (const auto& [tid, other] : p_.roster.process(program.pid)->threads)
    if (tid != keeper && !gone_.contains(tid)) others.push_back(tid);
  for (const Tid tid : others)
    if (!leave_one(tid, p_.clock.now())) keeps_slots(tid);
}

// The keeper stands still.
void Departure::move_out(ProgramMark program, Tid keeper, const Result<Foothold>& foothold) {
  Thread* const thread = p_.roster.thread(keeper);
  if (!p_.roster.still_runs(program) || !thread || is_owed_trap(keeper))
    return;  // try_detach() has it go on for a moment
  const Place place = stand_aside(*thread, Tracee(keeper));
  if (place == Place::Inside) thread->inferior->slots_may_be_in_use = true;
  if (place != Place::Left && foothold) remove_pages(program, keeper, *foothold);
}

void Departure::leave_last(Pid pid, Tid keeper) {
  const Inferior& inferior = *p_.roster.process(pid);
  const ProgramMark program = inferior.mark();
  if (const AddressSpace& space = inferior.space(); space.has_net())
    if (const auto check = space.differing()) bytes_left_changed_ += check->ours;
  const auto foothold = foothold_of(inferior.pid, inferior.memory());
  const std::int64_t since = p_.clock.now();
  Thread* const thread = p_.roster.thread(keeper);
  const auto stop = thread ? p_.rendezvous.stop(*thread, kForOne) : std::nullopt;
  if (stop && p_.roster.still_runs(program)) {
    leave_the_rest(program, keeper);
    move_out(program, keeper, foothold);
    Tracee(keeper).interrupt();
    Tracee(keeper).resume();  // only behind a new stop does the kernel take up its system call or group-stop again
  }
  if (!leave_one(keeper, since)) keeps_slots(keeper);
  kept_.erase(keeper);
}

// A thread that may stop soon: one that sleeps, runs or stands still.
void Departure::choose_keepers() {
  for (const auto& [pid, inferior] : p_.roster.processes()) {
    for (const auto& [tid, thread] : inferior->threads) {
      const char state = read_state(tid);
      if (state == 'S' || state == 'R' || state == 't') keepers_[pid] = tid;
    }
    if (keepers_.contains(pid)) kept_.insert(keepers_[pid]);
  }
}

void Departure::leave_all() {
  choose_keepers();
  leave_others();
  for (const auto& [pid, tid] : keepers_)
    if (p_.roster.process(pid)) leave_last(pid, tid);
  leave_others();  // children of the last ones
}

}  // namespace fade
