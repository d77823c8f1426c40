// How a session ends before its programs do.
#include <signal.h>

#include "base/log.hpp"
#include "session/session.hpp"
#include "session/stop_round.hpp"
#include "session/trap_guard.hpp"

namespace fade {
namespace {

// Until a thread stops; in vfork or in a driver it may not. All of let_go() is to take less than 2 s where some do not.
constexpr std::chrono::milliseconds kForRound{1000}, kForOne{300};
constexpr int kMostSteps = 16;                                // no slot holds more instructions

bool is_birth(Stop::Kind kind) {
  return kind == Stop::Kind::Fork || kind == Stop::Kind::Vfork || kind == Stop::Kind::Clone;
}
bool is_end(Stop::Kind kind) {
  return kind == Stop::Kind::Exited || kind == Stop::Kind::Killed || kind == Stop::Kind::Gone;
}

// Where a thread stands once it was moved out of our code as far as possible.
enum class Place {
  Outside,
  Inside,  // in the middle of an instruction that was moved; or a signal without a tracer met it there, and its handler runs now
  Left,    // nowhere: it ends, or another thread has executed a program
};

}  // namespace

// Nothing new is armed, and what is armed goes; the processes stay ours to wait for.
void Session::stop_watching() {
  look_at_imports(true);
  watching_ = false;
  follower_.rest();
  sink_.keeps_to(-1);
  for (const pid_t pid : roster_.pids()) {
    const Inferior* const inferior = roster_.process(pid);
    if (!inferior) continue;
    const bool needs_stop = !inferior->program->space->memory().writes_without_stop() || TrapGuard::is_action_lost(*inferior);
    Thread* stopped = needs_stop ? rendezvous_.stop_any(*inferior) : nullptr;
    if (!roster_.process(pid)) continue;
    roster_.process(pid)->program->space->put_back(stopped ? stopped->tid : kNobody);
    if (stopped && TrapGuard::is_action_lost(*stopped->inferior)) TrapGuard::retake(*stopped);  // nobody looks from now on
    if (stopped) rendezvous_.settle(*stopped);
  }
}

// Text has been put back while all threads ran. A few threads at a time are stopped, moved out of our code where they stand
// there, and detached: from then on they cannot come back. The last one of a process takes our pages out.
//
// A process may end or execute another program at any of these stops. Whatever is kept across one is found again by its number.
class Session::Farewell {
 public:
  // `keepers`: the last thread of each process to go.
  Farewell(Session& session, std::unordered_set<pid_t> keepers) : s_(session), keepers_(std::move(keepers)) {}

  void all_others();
  void last(pid_t pid, pid_t keeper);

 private:
  bool one(pid_t tid, std::int64_t since);
  bool ask(pid_t tid);
  bool take_leave(const Stop& stop);
  bool leave_program(const Stop& stop);
  bool part_with(const Stop& stop);
  static bool is_owed_trap(pid_t tid);
  Place stand_aside(const Thread& thread, const Tracee& tracee) const;
  Place step_aside(const Thread& thread, const Tracee& tracee, std::vector<int>& met) const;
  void detach(Thread& thread, const Tracee& tracee, int signal) const;
  void part_with_the_rest(ProgramMark program, pid_t keeper);
  void move_out(ProgramMark program, pid_t keeper, const Result<Foothold>& foothold);
  void remove_pages(ProgramMark program, pid_t keeper, const Foothold& foothold);
  void look_again(ProgramMark program, pid_t keeper);
  void stays_dirty(pid_t tid);

  Session& s_;
  std::unordered_set<pid_t> keepers_, gone_;
};

// Moves a thread to where it would stand without us.
Place Session::Farewell::stand_aside(const Thread& thread, const Tracee& tracee) const {
  std::vector<int> met;
  const Place place = step_aside(thread, tracee, met);
  for (const int signal : met) ::syscall(SYS_tkill, tracee.tid(), signal);
  return place;
}

// `met`: signals that came instead of the trap of a step.
Place Session::Farewell::step_aside(const Thread& thread, const Tracee& tracee, std::vector<int>& met) const {
  const AddressSpace& space = *thread.inferior->program->space;
  const auto has_no_frame_there = [&](RemoteAddr sp) { return !thread.inferior->had_leftovers || !space.refers_to_slots(sp); };
  for (int steps = 0; steps <= kMostSteps; ++steps) {
    const auto registers = tracee.registers();
    if (!registers) return Place::Left;
    const auto own = space.own_registers(*registers);
    if (own && !tracee.change_registers(*registers, *own)) return Place::Left;
    if (own || !space.in_slots(registers->ip())) return has_no_frame_there(registers->sp()) ? Place::Outside : Place::Inside;
    if (!tracee.step()) return Place::Left;
    const Stop stop = s_.tracer_.next_of(tracee.tid());
    if (has_left(stop.kind)) return Place::Left;
    if (stop.kind == Stop::Kind::Signal && stop.signal != SIGTRAP) met.push_back(stop.signal);
  }
  return Place::Inside;
}

// A stop that we asked for comes before the trap of an int3 that the thread has just executed.
bool Session::Farewell::is_owed_trap(pid_t tid) { return (read_signal_sets(tid).pending & kTrapBit) != 0; }

void Session::Farewell::detach(Thread& thread, const Tracee& tracee, int signal) const {
  if (signal == 0 && thread.interrupted) Rendezvous::take_up_call(tracee);
  s_.guard_.let_go(thread);
  tracee.detach(signal);
}

void Session::Farewell::stays_dirty(pid_t tid) {
  if (const Thread* const thread = s_.roster_.thread(tid)) thread->inferior->is_dirty = true;
}

// True: the thread is detached. False: it had to go on for a moment, and will stop again.
bool Session::Farewell::part_with(const Stop& stop) {
  const Tracee tracee(stop.tid);
  Thread* thread = s_.roster_.thread(stop.tid);
  const bool is_signal = stop.kind == Stop::Kind::Signal;
  const auto registers = tracee.registers();
  if (!thread || !registers) return tracee.detach(is_signal ? stop.signal : 0), true;
  if (std::exchange(thread->inferior->is_fresh_copy, false)) thread->inferior->program->space->mend_copy(stop.tid);
  const Site* site = thread->inferior->program->space->find(registers->ip() - 1);
  if (site && !is_signal && is_owed_trap(stop.tid)) {
    tracee.resume();
    tracee.interrupt();
    return false;
  }
  if (!is_signal || stop.signal != SIGTRAP) site = nullptr;
  const RemoteAddr trap = registers->ip() - 1;
  if (site && (site->needs_proof() || site->is_entry_pad(trap)))
    if (const auto info = tracee.siginfo(); info && info->si_code != SI_KERNEL) site = nullptr;
  if (site) {  // the trap is not delivered yet: should fade die here, the thread must continue in the slot
    tracee.set_ip(site->beyond(trap));
    tracee.interrupt();
    tracee.resume();
    return false;
  }
  const Place place = stand_aside(*thread, tracee);
  if (place == Place::Left) return false;
  thread->inferior->is_dirty |= place == Place::Inside;
  detach(*thread, tracee, is_signal ? stop.signal : 0);
  return true;
}

// Waits for one thread alone. False: it does not stop.
bool Session::Farewell::one(pid_t tid, std::int64_t since) {
  if (!ask(tid)) return true;
  for (;;) {
    const auto seen = s_.tracer_.next_of(tid, kForOne);
    if (!seen) return false;
    if (is_end(seen->kind)) s_.tracer_.reap_end(tid);
    if (is_end(seen->kind) || !s_.roster_.thread(tid)) break;
    if (take_leave(seen->kind == Stop::Kind::Exec ? s_.tracer_.next_if_stopped(tid) : *seen)) break;
  }
  s_.detach_holds_.held(tid, s_.clock_.now() - since);
  return gone_.insert(tid), true;
}

void Session::Farewell::all_others() {
  StopRound round(s_.turns_, [this](pid_t tid) { return ask(tid); });
  for (const auto& [tid, thread] : s_.roster_.threads())
    if (!keepers_.contains(tid) && !gone_.contains(tid)) round.add(tid);
  while (const auto stop = round.next(kForRound)) {
    if (is_birth(stop->kind) && stop->message > 0) round.add(static_cast<pid_t>(stop->message));
    if (stop->kind == Stop::Kind::Exec) {
      if (!leave_program(*stop)) round.add(stop->tid);
    } else if (keepers_.contains(stop->tid) || !s_.roster_.thread(stop->tid)) {
      s_.handle(*stop);
    } else if (is_end(stop->kind) || take_leave(*stop)) {
      s_.detach_holds_.held(stop->tid, round.held(stop->tid));
      round.done(stop->tid);
      gone_.insert(stop->tid);
    }
  }
  for (const pid_t tid : s_.unclaimed_.all())
    if (gone_.insert(tid).second) Tracee(tid).detach();
  for (const pid_t tid : round.rest()) {
    stays_dirty(tid);
    gone_.insert(tid);  // it is not asked again; the kernel detaches it when fade ends
  }
}

bool Session::Farewell::ask(pid_t tid) {
  if (Thread* thread = s_.roster_.thread(tid)) thread->interrupted = true;
  if (Tracee(tid).interrupt()) return true;
  s_.tracer_.reap_end(tid);  // it has ended, and its parent waits until we have taken note
  gone_.insert(tid);
  return false;
}

// The new program begins as any other that is not watched. Its only thread has the pid of the process, whichever thread executed it.
// False: that thread is asked to stop once more.
bool Session::Farewell::leave_program(const Stop& stop) {
  s_.handle(stop);
  keepers_.erase(stop.tid);
  gone_.erase(stop.tid);
  return !ask(stop.tid);
}

// True: the thread is detached, or has ended.
bool Session::Farewell::take_leave(const Stop& stop) {
  switch (stop.kind) {
    case Stop::Kind::Fork:
    case Stop::Kind::Vfork:
    case Stop::Kind::Clone: return s_.learn_of_child(stop), part_with(stop);
    case Stop::Kind::Exec: return leave_program(stop);
    case Stop::Kind::Exit: return detach(*s_.roster_.thread(stop.tid), Tracee(stop.tid), 0), true;
    case Stop::Kind::Signal:
    case Stop::Kind::Group:
    case Stop::Kind::Trap:
    case Stop::Kind::VforkDone:
    case Stop::Kind::Syscall: return part_with(stop);
    case Stop::Kind::None: return false;
    case Stop::Kind::Gone:
    case Stop::Kind::Exited:
    case Stop::Kind::Killed: return true;
  }
  return true;
}

// With no other thread left in our code it can go. A process that shares its memory with another of ours keeps it, and one whose
// handler may have been called so that it returns through us.
void Session::Farewell::remove_pages(ProgramMark program, pid_t keeper, const Foothold& foothold) {
  Inferior* inferior = s_.roster_.process(program.pid);
  AddressSpace* space = inferior->program->space.get();
  if (inferior->is_dirty || inferior->program.use_count() > 1 || !space->has_net()) return;
  const bool uses_signal = space->has_program_trap_action() || space->last_trap_action().handler != 0;  // it may run for the last time (SA_RESETHAND)
  auto done = space->give_signal_back(keeper, foothold.gadgets);
  if (done && uses_signal && inferior->threads.size() > 1) {
    look_again(program, keeper);
    if (!s_.roster_.still_runs(program)) return;
    inferior = s_.roster_.process(program.pid);
    space = inferior->program->space.get();
  }
  if (done && uses_signal && !foothold.gadgets.sigreturn) inferior->is_dirty = true;
  if (done && !inferior->is_dirty) done = space->remove(keeper, foothold.gadgets);
  if (!done) log::debug("our pages stay in process {}: {}", program.pid, done.error().text());
}

// A signal of the program's own may have sent a thread into our handler before the action was its own again. None comes
// there any more; a thread that is there is no longer asleep.
void Session::Farewell::look_again(ProgramMark program, pid_t keeper) {
  s_.tracer_.reap_stop(keeper);
  Inferior& inferior = *s_.roster_.process(program.pid);
  for (const pid_t tid : read_thread_ids(program.pid)) {
    if (tid == keeper || read_state(tid) == 'S') continue;
    if (const auto seized = Tracer::seize(tid, false); !seized) {
      inferior.is_dirty |= seized.error().code != ESRCH;
      continue;
    }
    if (!s_.roster_.thread(tid)) s_.roster_.add_thread(inferior, tid, kUnknownDevice);
    gone_.erase(tid);
  }
  all_others();
}

// Threads that were born to the process meanwhile.
void Session::Farewell::part_with_the_rest(ProgramMark program, pid_t keeper) {
  std::vector<pid_t> others;
  for (const auto& [tid, other] : s_.roster_.process(program.pid)->threads)
    if (tid != keeper && !gone_.contains(tid)) others.push_back(tid);
  for (const pid_t tid : others)
    if (!one(tid, s_.clock_.now())) stays_dirty(tid);
}

// The keeper stands still.
void Session::Farewell::move_out(ProgramMark program, pid_t keeper, const Result<Foothold>& foothold) {
  Thread* const thread = s_.roster_.thread(keeper);
  if (!s_.roster_.still_runs(program) || !thread || is_owed_trap(keeper)) return;  // part_with() has it go on for a moment
  const Place place = stand_aside(*thread, Tracee(keeper));
  if (place == Place::Inside) thread->inferior->is_dirty = true;
  if (place != Place::Left && foothold) remove_pages(program, keeper, *foothold);
}

void Session::Farewell::last(pid_t pid, pid_t keeper) {
  const Inferior& inferior = *s_.roster_.process(pid);
  const ProgramMark program = inferior.mark();
  if (const AddressSpace& space = *inferior.program->space; space.has_net())
    if (const auto check = space.differing()) s_.bytes_left_changed_ += check->ours;
  const auto foothold = foothold_of(inferior.pid, inferior.program->space->memory());
  const std::int64_t since = s_.clock_.now();
  Thread* const thread = s_.roster_.thread(keeper);
  const auto stop = thread ? s_.rendezvous_.stop(*thread, kForOne) : std::nullopt;
  if (stop && s_.roster_.still_runs(program)) {
    part_with_the_rest(program, keeper);
    move_out(program, keeper, foothold);
    Tracee(keeper).interrupt();
    Tracee(keeper).resume();  // only behind a new stop does the kernel take up its system call or group-stop again
  }
  if (!one(keeper, since)) stays_dirty(keeper);
  keepers_.erase(keeper);
}

void Session::let_go() {
  look_for_untraced();  // a child that runs fade's code unseen must not lose that code
  stop_watching();
  std::unordered_map<pid_t, pid_t> keepers;
  std::unordered_set<pid_t> kept;
  for (const auto& [pid, inferior] : roster_.processes()) {
    for (const auto& [tid, thread] : inferior->threads) {
      calls_.thread_ended(*thread, true);
      const char state = read_state(tid);
      if (state == 'S' || state == 'R' || state == 't') keepers[pid] = tid;
    }
    if (keepers.contains(pid)) kept.insert(keepers[pid]);
    sink_.notice(Lifecycle{.at = clock_.now(), .process = inferior->id, .kind = "detach"});
  }
  Farewell farewell(*this, std::move(kept));
  farewell.all_others();
  for (const auto& [pid, tid] : keepers)
    if (roster_.process(pid)) farewell.last(pid, tid);
  farewell.all_others();  // children of the last ones
  unclaimed_.clear();
  roster_.clear();
}

}  // namespace fade
