// How a session ends before its programs do.
#include <signal.h>

#include "base/log.hpp"
#include "session/session.hpp"
#include "session/stop_round.hpp"
#include "session/trap_guard.hpp"

namespace fade {
namespace {

constexpr std::chrono::milliseconds kLater{2000};  // until a thread stops; in vfork or in a driver it may not
constexpr int kMostSteps = 16;                                // no slot holds more instructions

bool is_birth(Stop::Kind kind) {
  return kind == Stop::Kind::Fork || kind == Stop::Kind::Vfork || kind == Stop::Kind::Clone;
}
bool is_end(Stop::Kind kind) {
  return kind == Stop::Kind::Exited || kind == Stop::Kind::Killed || kind == Stop::Kind::Gone;
}

}  // namespace

// Nothing new is armed, and what is armed goes; the processes stay ours to wait for.
void Session::stop_watching() {
  look_at_imports(true);
  watching_ = false;
  follower_.rest();
  sink_.keeps_to(-1);
  std::vector<pid_t> pids;
  for (const auto& [pid, inferior] : inferiors_) pids.push_back(pid);
  for (const pid_t pid : pids) {
    const auto it = inferiors_.find(pid);  // stops of others are handled meanwhile, their ends too
    if (it == inferiors_.end()) continue;
    const bool needs_stop = !it->second->program->space->memory().writes_without_stop() || TrapGuard::is_action_lost(*it->second);
    Thread* stopped = needs_stop ? stop_any(*it->second) : nullptr;
    if (!inferiors_.contains(pid)) continue;
    inferiors_[pid]->program->space->put_back(stopped ? stopped->tid : kNobody);
    if (stopped && TrapGuard::is_action_lost(*stopped->inferior)) TrapGuard::retake(*stopped);  // nobody looks from now on
    if (stopped) settle(*stopped);
  }
}

// Text has been put back while everybody ran. A few threads at a time are stopped, moved out of our code where they stand
// there, and detached: from then on they cannot come back. The last one of a process takes our pages out.
class Session::Farewell {
 public:
  // `keepers`: the last thread of each process to go.
  Farewell(Session& session, std::unordered_set<pid_t> keepers) : s_(session), keepers_(std::move(keepers)) {}

  void all_others();
  void last(Inferior& inferior, pid_t keeper);

 private:
  bool one(pid_t tid, std::int64_t since);
  bool ask(pid_t tid);
  bool take_leave(const Stop& stop);
  bool part_with(const Stop& stop);
  static bool is_owed_trap(pid_t tid);
  bool stand_aside(const Thread& thread, const Tracee& tracee) const;
  bool step_aside(const Thread& thread, const Tracee& tracee, std::vector<int>& met) const;
  void detach(Thread& thread, const Tracee& tracee, int signal) const;
  void remove_pages(Inferior& inferior, pid_t keeper, const Foothold& foothold);
  void look_again(Inferior& inferior, pid_t keeper);

  Session& s_;
  std::unordered_set<pid_t> keepers_, gone_;
};

// Moves a thread to where it would stand without us. False: it is in the middle of an instruction that we moved, or was
// interrupted there by a signal, without us, whose handler runs now.
bool Session::Farewell::stand_aside(const Thread& thread, const Tracee& tracee) const {
  std::vector<int> met;
  const bool done = step_aside(thread, tracee, met);
  for (const int signal : met) ::syscall(SYS_tkill, tracee.tid(), signal);
  return done;
}

// `met`: signals that came instead of the trap of a step.
bool Session::Farewell::step_aside(const Thread& thread, const Tracee& tracee, std::vector<int>& met) const {
  const AddressSpace& space = *thread.inferior->program->space;
  const auto has_no_frame_there = [&](RemoteAddr sp) { return !thread.inferior->had_leftovers || !space.refers_to_slots(sp); };
  for (int steps = 0; steps <= kMostSteps; ++steps) {
    const auto registers = tracee.registers();
    if (!registers) return true;
    const auto own = space.own_registers(*registers);
    if (own && !tracee.change_registers(*registers, *own)) return true;
    if (own || !space.in_slots(registers->ip())) return has_no_frame_there(registers->sp());
    if (!tracee.step()) return true;
    const Stop stop = s_.tracer_.next_of(tracee.tid());
    if (is_end(stop.kind)) return true;
    if (stop.kind == Stop::Kind::Signal && stop.signal != SIGTRAP) met.push_back(stop.signal);
  }
  return false;
}

// A stop that we asked for comes before the trap of an int3 that the thread has just executed.
bool Session::Farewell::is_owed_trap(pid_t tid) { return (read_signal_sets(tid).pending & kTrapBit) != 0; }

void Session::Farewell::detach(Thread& thread, const Tracee& tracee, int signal) const {
  if (signal == 0 && thread.interrupted) take_up_call(tracee);
  s_.guard_.let_go(thread);
  tracee.detach(signal);
}

// True: the thread is detached. False: it had to go on for a moment, and will stop again.
bool Session::Farewell::part_with(const Stop& stop) {
  const Tracee tracee(stop.tid);
  Thread* thread = s_.thread_of(stop.tid);
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
  if (site) {  // with a trap under way only its slot is a safe place to be found dead at; from there it stands aside
    tracee.set_ip(site->beyond(trap));
    tracee.interrupt();
    tracee.resume();
    return false;
  }
  if (!stand_aside(*thread, tracee)) thread->inferior->is_dirty = true;
  detach(*thread, tracee, is_signal ? stop.signal : 0);
  return true;
}

// Nobody but it. False: it does not stop.
bool Session::Farewell::one(pid_t tid, std::int64_t since) {
  if (!ask(tid)) return true;
  for (;;) {
    const auto stop = s_.tracer_.next_of(tid, kLater);
    if (!stop) return false;
    if (is_end(stop->kind)) s_.tracer_.reap_end(tid);
    if (is_end(stop->kind) || !s_.thread_of(tid) || take_leave(*stop)) break;
  }
  s_.detach_holds_.held(tid, s_.clock_.now() - since);
  return gone_.insert(tid), true;
}

void Session::Farewell::all_others() {
  StopRound round(s_.turns_, [this](pid_t tid) { return ask(tid); });
  for (const auto& [tid, thread] : s_.threads_)
    if (!keepers_.contains(tid) && !gone_.contains(tid)) round.add(tid);
  while (const auto stop = round.next(kLater)) {
    if (is_birth(stop->kind) && stop->message > 0) round.add(static_cast<pid_t>(stop->message));
    if (keepers_.contains(stop->tid) || !s_.thread_of(stop->tid)) {
      s_.handle(*stop);
    } else if (is_end(stop->kind) || take_leave(*stop)) {
      s_.detach_holds_.held(stop->tid, round.held(stop->tid));
      round.done(stop->tid);
      gone_.insert(stop->tid);
    }
  }
  for (const pid_t tid : s_.unclaimed_)
    if (gone_.insert(tid).second) Tracee(tid).detach();
  for (const pid_t tid : round.rest())
    if (Thread* thread = s_.thread_of(tid)) thread->inferior->is_dirty = true;
}

bool Session::Farewell::ask(pid_t tid) {
  if (Thread* thread = s_.thread_of(tid)) thread->interrupted = true;
  if (Tracee(tid).interrupt()) return true;
  s_.tracer_.reap_end(tid);  // it has ended, and its parent waits until we have taken note
  gone_.insert(tid);
  return false;
}

// Of a thread at any stop but its end. True: it is detached.
bool Session::Farewell::take_leave(const Stop& stop) {
  if (is_birth(stop.kind)) s_.learn_of_child(stop);
  if (stop.kind != Stop::Kind::Exec && stop.kind != Stop::Kind::Exit) return part_with(stop);
  detach(*s_.thread_of(stop.tid), Tracee(stop.tid), 0);  // nothing of ours is in its new program, and who ends does not come back
  return true;
}

// With nobody else left in our code it can go. A process that shares its memory with another of ours keeps it, and one whose
// handler may have been called so that it returns through us.
void Session::Farewell::remove_pages(Inferior& inferior, pid_t keeper, const Foothold& foothold) {
  AddressSpace& space = *inferior.program->space;
  if (inferior.is_dirty || inferior.program.use_count() > 1 || !space.has_net()) return;
  const bool uses_signal = space.has_program_trap_action() || space.last_trap_action().handler != 0;  // it may run for the last time (SA_RESETHAND)
  auto done = space.give_signal_back(keeper, foothold.gadgets);
  if (done && uses_signal && inferior.threads.size() > 1) look_again(inferior, keeper);
  if (done && uses_signal && !foothold.gadgets.sigreturn) inferior.is_dirty = true;
  if (done && !inferior.is_dirty) done = space.remove(keeper, foothold.gadgets);
  if (!done) log::debug("our pages stay in process {}: {}", inferior.pid, done.error().text());
}

// A signal of the program's own may have sent a thread into our handler before the action was its own again. None comes
// there any more; who is there is no longer asleep.
void Session::Farewell::look_again(Inferior& inferior, pid_t keeper) {
  s_.tracer_.reap_stop(keeper);
  for (const pid_t tid : read_thread_ids(inferior.pid)) {
    if (tid == keeper || read_state(tid) == 'S') continue;
    if (const auto seized = Tracer::seize(tid, false); !seized) {
      inferior.is_dirty |= seized.error().code != ESRCH;
      continue;
    }
    if (!s_.thread_of(tid)) s_.add_thread(inferior, tid);
    gone_.erase(tid);
  }
  all_others();
}

void Session::Farewell::last(Inferior& inferior, pid_t keeper) {
  const AddressSpace& space = *inferior.program->space;
  if (const auto check = space.has_net() ? space.differing() : TextCheck{}) s_.bytes_left_changed_ += check->ours;
  const auto foothold = s_.foothold_in(inferior);
  const std::int64_t since = s_.clock_.now();
  Thread* thread = s_.thread_of(keeper);
  const auto stop = thread ? s_.stop_thread(*thread, kLater) : std::nullopt;
  thread = s_.thread_of(keeper);
  if (!stop || !thread) return (void)one(keeper, since);
  std::vector<pid_t> others;  // born to it since
  for (const auto& [tid, other] : inferior.threads)
    if (tid != keeper && !gone_.contains(tid)) others.push_back(tid);
  for (const pid_t tid : others)
    if (!one(tid, s_.clock_.now())) inferior.is_dirty = true;
  const Tracee tracee(keeper);
  const bool is_owed = is_owed_trap(keeper);  // then part_with() has it go on for a moment
  if (!is_owed && !stand_aside(*thread, tracee)) inferior.is_dirty = true;
  if (foothold && !is_owed) remove_pages(inferior, keeper, *foothold);
  tracee.interrupt();
  tracee.resume();
  one(keeper, since);  // only behind a new stop does the kernel take up its system call or group-stop again
  keepers_.erase(keeper);
}

void Session::let_go() {
  look_for_strangers();  // who goes through our code unseen must not meet its end there
  stop_watching();
  std::unordered_map<pid_t, pid_t> keepers;
  std::unordered_set<pid_t> kept;
  for (const auto& [pid, inferior] : inferiors_) {
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
    if (const auto it = inferiors_.find(pid); it != inferiors_.end()) farewell.last(*it->second, tid);
  farewell.all_others();  // whom the last ones gave birth to
  threads_.clear();
  unclaimed_.clear();
  inferiors_.clear();
}

// A child whose parent died before it could say so waits for nobody: it runs on without us, with the net it was born with.
void Session::release_orphans() {
  for (const pid_t tid : std::exchange(orphans_, unclaimed_)) {
    if (!unclaimed_.erase(tid)) continue;
    orphans_.erase(tid);
    known_.insert(tid);
    sink_.notice(Lifecycle{.at = clock_.now(), .kind = "unwatched", .value = tid, .detail = "its parent died before the fork was seen"});
    Tracee(tid).detach();
  }
}

}  // namespace fade
