// How a session comes to a process that runs already. Everything that only reads is done while it runs; one thread is
// stopped for the remote system calls that put in the net, and those that block SIGTRAP for a moment each.
#include <fmt/format.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include <algorithm>
#include <map>
#include <thread>

#include "base/clock.hpp"
#include "base/living_thread.hpp"
#include "base/log.hpp"
#include "ptrace/interrupted.hpp"
#include "ptrace/seccomp_filter.hpp"
#include "session/in_flight.hpp"
#include "session/session.hpp"
#include "session/stop_round.hpp"
#include "session/trap_guard.hpp"

namespace fade {
namespace {

constexpr std::chrono::milliseconds kPatience{300};  // with threads that do not stop: in a driver, in vfork
constexpr int kStartTime = 500;  // looks, at a program that has just been executed
constexpr std::int64_t kLongestExec = 2'000'000'000;  // from the end of the old program to the stop of the new one
constexpr int kMostLooks = 10, kEnoughLooks = 4;
constexpr std::chrono::milliseconds kBetweenLooks{1};
constexpr std::size_t kCopied = 256 * 1024, kMostFrames = 256;  // of each stack

// What SafetyNet and AddressSpace have a thread do, and what it does by itself where we die.
constexpr PlannedCall kOurCalls[] = {
    {"mmap", SYS_mmap, {0, 0, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, ~std::uint64_t{0}, 0}},
    {"mprotect", SYS_mprotect, {0, 0, PROT_READ | PROT_WRITE}},
    {"munmap", SYS_munmap},
    {"rt_sigaction", SYS_rt_sigaction, {SIGTRAP, 0, 0, 8}},
    {"rt_sigreturn", SYS_rt_sigreturn},
};
constexpr PlannedCall kRestart[] = {{"restart_syscall", SYS_restart_syscall}};

// Of an int3 that the thread has executed: that waits for it alone.
bool has_trap_to_come(pid_t tid) {
  const SignalSets signals = read_signal_sets(tid);
  return (signals.pending_alone & ~signals.blocked & kTrapBit) != 0;
}

RemoteRange code_of_libc(const Foothold& foothold) {
  const auto it = std::ranges::find_if(foothold.modules, [&](const RemoteRange& module) { return module.contains(foothold.libc); });
  return it == foothold.modules.end() ? RemoteRange{} : *it;
}

}  // namespace

Result<Foothold> Session::foothold_in(const Inferior& inferior) const {
  const Memory& memory = inferior.program->space->memory();
  auto facts = read_auxiliary_vector(inferior.pid, memory);
  if (!facts) return tl::unexpected(process_gone(inferior.pid));
  if (!read_is_64_bit(inferior.pid)) return fail("it is a 32-bit program", {}, {}, ENOTSUP);
  if (!facts->loader_base) facts->loader_base = loader_run_as_program(memory, *facts);
  if (!facts->loader_base) return fail("it is a static program: it cannot load HIP", {}, {}, ENOTSUP);
  return find_foothold(memory, *facts);
}

// A program that has just begun needs its stops handled to get on.
Result<Foothold> Session::wait_for_foothold(ProgramMark program) {
  for (int look = 0; still_runs(program); ++look) {
    auto foothold = foothold_in(*inferior_of(program.pid));
    if (foothold || foothold.error().code != EAGAIN || gives_up()) return foothold;
    if (look == kStartTime) return foothold.error().code = ENOTSUP, foothold;
    serve_stops();
    std::this_thread::sleep_for(kBetweenLooks);
  }
  return tl::unexpected(process_gone(program.pid));
}

Result<void> Session::watch(pid_t pid) {
  const auto cannot = [&](Error why) {
    return tl::unexpected(leaves_early_ ? asked_to_leave() : with_context(fmt::format("process {} cannot be watched", pid), std::move(why)));
  };
  const auto it = inferiors_.find(pid);
  if (it == inferiors_.end() || it->second->threads.empty()) return tl::unexpected(process_gone(pid));
  Inferior& inferior = *it->second;
  if (inferior.watched) return {};   // it has executed a program since it was seized
  if (Inferior* const host = inferior.is_guest ? nullptr : host_of(pid)) {  // which was seized after it
    inferior.program = host->program;
    inferior.is_guest = true;
  }
  if (inferior.is_guest) return {};  // until it executes a program there is its parent's to watch
  if (const pid_t parent = read_parent(pid); shares_memory(pid, living_thread(parent)))
    return cannot(Error{fmt::format("it runs in the memory of its parent, process {}, until it executes a program (vfork)", parent), {},
                        "attach to its parent, or try again later", EAGAIN});
  attached_threads_ += inferior.threads.size();
  note(*inferior.threads.begin()->second, "attach", pid);
  const ProgramMark program = inferior.mark();
  const auto is_same = [&] { return still_runs(program); };  // each stop that is handled may be its end
  const auto foothold = wait_for_foothold(program);
  if (!foothold && is_same()) await_exec(inferior);
  if (!foothold && !is_same()) return inferiors_.contains(pid) ? Result<void>() : tl::unexpected(process_gone(pid));
  if (!foothold) return cannot(foothold.error());
  if (const auto allowed = check_filters(inferior); !allowed) return cannot(allowed.error());
  const RemoteRange libc = code_of_libc(*foothold);
  unblock_traps(program, libc);
  const bool needs_stop = is_same() && !inferior.program->space->memory().writes_without_stop();
  Result<void> done;
  if (is_same()) done = with_guide(inferior, [&](Thread& guide) { return modules_.lay_net(inferior, guide, *foothold); });
  if (done && is_same()) await_forks(inferior);
  if (done && is_same()) meet_guests(pid);
  if (done && is_same())
    done = with_guide(inferior, [&](Thread& guide) {
      auto entered = modules_.enter(inferior, guide, *foothold);
      if (entered && needs_stop) modules_.arm_loaded(inferior, guide.tid);
      return entered;
    });
  if (read_thread_ids(pid).empty()) return tl::unexpected(process_gone(pid));
  if (!done && is_same()) await_exec(inferior);
  if (!is_same()) return {};  // it executed another program meanwhile, which is watched from its start
  if (!done) return cannot(std::move(done.error()));
  inferior.watched = true;
  unblock_traps(program, libc);  // who was in the middle of setting its mask
  if (!needs_stop && is_same()) modules_.arm_loaded(inferior, kNobody);
  if (is_same() && modules_.armed() > 0) tell_calls_in_flight(inferior);
  watch_early_children();
  return {};
}

bool Session::still_runs(ProgramMark program) const {
  const auto it = inferiors_.find(program.pid);
  return it != inferiors_.end() && it->second->id == program.process && it->second->execs == program.execs && !it->second->threads.empty();
}

// One of its threads stands still for what only a stopped thread can do.
Result<void> Session::with_guide(Inferior& inferior, const std::function<Result<void>(Thread&)>& work) {
  const std::int64_t since = clock_.now();
  Thread* guide = stop_any(inferior);
  if (!guide) return fail("all its threads are in system calls that nothing interrupts", {}, "try again later", EAGAIN);
  const auto registers = Tracee(guide->tid).registers();
  Result<void> done = registers && registers->is_64_bit() ? work(*guide) : Result<void>(fail("it is a 32-bit program", {}, {}, ENOTSUP));
  const pid_t tid = guide->tid;
  settle(*guide);
  attach_holds_.held(tid, clock_.now() - since);
  return done;
}

// A fork copies the signal actions before the memory. One that began before the net was the SIGTRAP handler must not copy
// breakpoints: its child would have them without it, and nobody to mend that should we die. Who sleeps is not in a fork.
void Session::await_forks(const Inferior& inferior) {
  std::vector<pid_t> awake;
  for (const auto& [tid, thread] : inferior.threads)
    if (read_state(tid) != 'S') awake.push_back(tid);
  at_stops_of(awake, [](Thread&) {}, &attach_holds_);
}

// An exec under way takes memory and threads away before its stop is seen. Handles stops until it is, or until it is sure that there is no
// exec. The new program is watched from its start.
void Session::await_exec(const Inferior& inferior) {
  const ProgramMark program = inferior.mark();
  const std::shared_ptr<AddressSpace> space = inferior.program->space;  // `inferior` may be gone behind a stop
  if (Thread* const any = stop_any(inferior)) settle(*any);
  const std::int64_t until = boottime_ns() + kLongestExec;
  while (still_runs(program) && space->memory().is_gone() && boottime_ns() < until && !gives_up()) handle(turns_.next());
}

// Threads may have filters of their own; one of each sort is asked. Most processes have none, and nobody is stopped.
// A filter that nobody could be asked about may kill the program for what we do.
Result<void> Session::check_filters(const Inferior& inferior) {
  std::map<SeccompState, std::vector<pid_t>> sorts;
  for (const auto& [tid, thread] : inferior.threads) sorts[read_seccomp_state(tid)].push_back(tid);
  const ProgramMark program = inferior.mark();  // `inferior` may be gone behind a stop
  for (const auto& [state, tids] : sorts) {
    if (state.mode == 0) continue;
    if (Thread* const one = stop_one_of(tids, program)) {
      const auto allowed = may_call(one->tid, kOurCalls);
      settle(*one);
      if (!allowed) return allowed;
    } else if (still_runs(program) && std::ranges::any_of(tids, [&](pid_t tid) { return thread_of(tid) != nullptr; })) {
      return fail("a thread with a seccomp filter of its own is in a system call that nothing interrupts", "fade cannot see what the filter forbids", "try again later", EAGAIN);
    }
  }
  return {};
}

Thread* Session::stop_any(const Inferior& inferior) {
  std::vector<pid_t> tids;
  for (const auto& [tid, thread] : inferior.threads) tids.push_back(tid);
  std::partition(tids.begin(), tids.end(), [&](pid_t tid) { return tid == inferior.pid; });
  return stop_one_of(std::move(tids), inferior.mark());
}

Thread* Session::stop_one_of(std::vector<pid_t> tids, ProgramMark program) {
  const std::size_t all = tids.size();
  for (std::size_t i = 0; i < tids.size(); ++i) {
    const pid_t tid = tids[i];
    if (!still_runs(program) || gives_up()) return nullptr;
    if (i < all && read_state(tid) == 'D') {  // in vfork, or a driver, which nothing interrupts: the last to be asked
      tids.push_back(tid);
      continue;
    }
    Thread* thread = thread_of(tid);  // may have ended while another was waited for
    if (thread && thread->inferior->pid == program.pid && stop_thread(*thread, kPatience)) return thread_of(tid);
  }
  return nullptr;
}

// Whatever comes before our own stop goes its usual way, the trap of an int3 that the thread has just executed included: should we die in
// the middle of a remote call in it, the net would meet that trap where it can tell nothing from it, and the thread would go on behind its int3.
// nullopt: it does not stop now, or has ended; its stop, if there is one later, is handled as any other.
std::optional<Stop> Session::stop_thread(Thread& thread, std::chrono::milliseconds patience) {
  const pid_t tid = thread.tid;
  for (bool is_owed = false;;) {
    if (!thread_of(tid)) return std::nullopt;
    if (!is_owed) {  // again each time: any other stop takes the request away
      if (!Tracee(tid).interrupt()) return std::nullopt;
      thread_of(tid)->interrupted = true;
    }
    const auto stop = wait_for(tid, patience);
    if (!stop) return std::nullopt;
    const bool is_ours = stop->kind == Stop::Kind::Trap || stop->kind == Stop::Kind::Group;
    is_owed = is_ours && has_trap_to_come(tid);
    if (is_ours && !is_owed) return stop;
    handle(*stop);
    if (has_left(stop->kind) || stop->kind == Stop::Kind::Group) return std::nullopt;
  }
}

// The others go their usual way meanwhile: in vfork a thread waits for a child that waits for us.
std::optional<Stop> Session::wait_for(pid_t tid, std::chrono::nanoseconds patience) {
  const std::int64_t until = boottime_ns() + patience.count();
  while (thread_of(tid) && boottime_ns() < until && !gives_up()) {
    const Stop stop = turns_.next();
    if (stop.kind == Stop::Kind::Gone) return std::nullopt;
    if (stop.tid == tid && stop.kind != Stop::Kind::Exited && stop.kind != Stop::Kind::Killed) return stop;
    handle(stop);
  }
  return std::nullopt;
}

// The kernel takes up an interrupted system call, a pending signal or a group-stop only behind a stop of this kind.
void Session::settle(Thread& thread) {
  const Tracee tracee(thread.tid);
  thread.interrupted = true;
  tracee.interrupt();
  tracee.resume();
  if (const auto stop = wait_for(tracee.tid(), kPatience)) handle(*stop);
}

// From a stop that we asked for.
void Session::go_on(Thread& thread) {
  const Tracee tracee(thread.tid);
  take_up_call(tracee);
  tracee.resume();
}

// The program must not see that its system call was interrupted, by us alone.
void Session::take_up_call(const Tracee& tracee) {
  const auto registers = tracee.registers();
  auto again = registers ? called_once_more(*registers) : std::nullopt;
  if (registers && wants_restart_syscall(*registers) && !may_call(tracee.tid(), kRestart)) again = begun_again(*registers);
  if (!again) return;
  const SignalSets signals = read_signal_sets(tracee.tid());
  if ((signals.pending & ~signals.blocked) == 0) tracee.set_registers(*again);
}

// TrapGuard's rule for threads that were there before us: for the kernel SIGTRAP is never blocked. libc (`libc` is its code)
// blocks all signals for moments and then sets the mask that it found, and a handler's are blocked while it runs: only who
// blocks it at several looks in a row, and sleeps or is elsewhere, means it; and whoever does is looked at again.
void Session::unblock_traps(ProgramMark program, RemoteRange libc) {
  std::unordered_map<pid_t, int> seen;
  std::unordered_set<pid_t> deaf;  // in vfork, or a driver: asked once
  for (int look = 1; look <= kMostLooks && still_runs(program) && !gives_up(); ++look) {
    std::vector<pid_t> blocking;
    bool somebody = false;
    for (const auto& [tid, thread] : inferiors_[program.pid]->threads) {
      const std::uint64_t blocked = read_signal_sets(tid).blocked;
      somebody |= (blocked & kTrapBit) != 0;
      if (!(blocked & kTrapBit) || (blocked & kBitsOfLibc)) seen.erase(tid);
      else if (seen[tid]++ > 0 && !deaf.contains(tid)) blocking.push_back(tid);
    }
    if (!somebody) return;
    const auto left = at_stops_of(blocking, [&](Thread& thread) {
      const auto registers = Tracee(thread.tid).registers();
      const bool slept = registers && (begun_again(*registers) || called_once_more(*registers));
      const bool is_elsewhere = registers && !libc.contains(registers->ip());
      if (slept || (seen[thread.tid] > kEnoughLooks && (is_elsewhere || look == kMostLooks))) TrapGuard::unblock(thread);
    }, &attach_holds_);
    deaf.insert(left.begin(), left.end());
    std::this_thread::sleep_for(kBetweenLooks);
  }
}

// Has them stop and go on. Who has another stop first has that handled. Returns who does not stop in time.
std::vector<pid_t> Session::at_stops_of(const std::vector<pid_t>& tids, const std::function<void(Thread&)>& look, HoldClock* holds) {
  StopRound round(turns_, [this](pid_t tid) {
    Thread* thread = thread_of(tid);
    if (thread) thread->interrupted = true;
    return thread && Tracee(tid).interrupt();
  });
  for (const pid_t tid : tids) round.add(tid);
  while (const auto stop = gives_up() ? std::nullopt : round.next(kPatience)) {
    Thread* thread = round.has(stop->tid) ? thread_of(stop->tid) : nullptr;
    const bool is_asked = thread && (stop->kind == Stop::Kind::Trap || stop->kind == Stop::Kind::Group);
    if (is_asked) look(*thread);
    handle(*stop);
    if (is_asked && holds) holds->held(stop->tid, round.held(stop->tid));
    if (is_asked || !thread_of(stop->tid)) round.done(stop->tid);
  }
  return round.rest();
}

// The memory of a forked child may be from before there was anything of ours in its parent's, and its signal actions are from
// before its memory.
void Session::mend_copy(Inferior& inferior, Thread& thread) {
  AddressSpace& copy = *inferior.program->space;
  copy.forget_missing_net();
  if (const auto of_maker = std::exchange(inferior.guest_action, {})) copy.set_program_trap_action(*of_maker, thread.tid);
  const bool may_be_old = copy.has_net() && (copy.has_program_trap_action() || !catches_signal(inferior.pid, SIGTRAP));
  if (watching_ && !inferior.has_trap_to_itself && may_be_old) TrapGuard::retake(thread);
  copy.mend_copy(thread.tid);
  if (copy.has_net() || !inferior.watched || !watching_) return;
  inferior.program = std::make_shared<Program>(tracer_, inferior.pid);
  inferior.watched = false;
  const auto foothold = foothold_in(inferior);
  auto entered = foothold ? modules_.lay_net(inferior, thread, *foothold) : Result<void>(tl::unexpected(foothold.error()));
  if (entered) entered = modules_.enter(inferior, thread, *foothold);
  if (!entered) return note(thread, "unwatched", 0, entered.error().text());
  inferior.watched = true;
  TrapGuard::unblock(thread);
  thread.is_doubtful = true;
  modules_.arm_loaded(inferior, thread.tid);
}

// Children that were forked while we were coming to their parent.
void Session::watch_early_children() {
  std::vector<pid_t> early;
  for (const auto& [pid, inferior] : inferiors_)
    if (std::exchange(inferior->is_early, false) && !inferior->watched) early.push_back(pid);
  for (const pid_t pid : early)
    if (const auto watched = watch(pid); !watched) log::debug("{}", watched.error().text());
}

// Threads sleep most of the time: whether one may be in a call shows without a stop.
void Session::tell_calls_in_flight(Inferior& inferior) {
  const ProgramMark mark = inferior.mark();
  const std::shared_ptr<AddressSpace> space = inferior.program->space;  // `inferior` may be gone behind a stop
  const ProcessMemory& memory = space->memory();
  const CallsInFlight calls(*inferior.program, functions_);
  std::vector<pid_t> candidates;
  for (const auto& [tid, thread] : inferior.threads)
    if (const RemoteAddr sp = read_stack_pointer(tid); !sp || calls.may_be_in_one(sp)) candidates.push_back(tid);
  struct Copy {
    pid_t tid;
    Registers registers;
    StackSnapshot stack;
  };
  std::vector<Copy> copies;
  at_stops_of(candidates, [&](const Thread& thread) {
    const auto registers = Tracee(thread.tid).registers();
    if (registers) copies.push_back({thread.tid, *registers, StackSnapshot(memory, registers->sp(), kCopied)});
  }, &attach_holds_);
  if (copies.empty() || !still_runs(mark)) return;
  CodeMap& code = stacks_.of(*inferior.program).code();
  for (const auto& [tid, registers, stack] : copies)
    for (const std::string& name : calls.of(native_frames(code, tid, registers, stack, kMostFrames)))
      if (Thread* thread = thread_of(tid)) {
        note(*thread, "in flight", 0, name);
        thread->earlier_calls.push_back(name);
        calls_in_flight_.push_back(fmt::format("{} (thread {})", name, tid));
      }
}

void Session::look_after_nets() {
  for (const auto& [pid, inferior] : inferiors_)
    if (inferior->watched && watching_ && inferior->program->space->has_net() && !catches_signal(pid, SIGTRAP))
      inferior->has_lost_net = true;
}

}  // namespace fade
