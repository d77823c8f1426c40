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

RemoteRange code_of_libc(const Foothold& foothold) {
  const auto it = std::ranges::find_if(foothold.modules, [&](const RemoteRange& module) { return module.contains(foothold.libc); });
  return it == foothold.modules.end() ? RemoteRange{} : *it;
}

}  // namespace

// A program that has just begun needs its stops handled to get on.
Result<Foothold> Session::wait_for_foothold(ProgramMark program) {
  for (int look = 0; roster_.still_runs(program); ++look) {
    auto foothold = foothold_of(program.pid, roster_.process(program.pid)->program->space->memory());
    if (foothold || foothold.error().code != EAGAIN || rendezvous_.gives_up()) return foothold;
    if (look == kStartTime) return foothold.error().code = ENOTSUP, foothold;
    rendezvous_.serve_stops();
    std::this_thread::sleep_for(kBetweenLooks);
  }
  return tl::unexpected(process_gone(program.pid));
}

Result<void> Session::watch(pid_t pid) {
  const auto cannot = [&](Error why) {
    return tl::unexpected(rendezvous_.has_given_up() ? Rendezvous::asked_to_leave() : with_context(fmt::format("process {} cannot be watched", pid), std::move(why)));
  };
  Inferior* const found = roster_.process(pid);
  if (!found || found->threads.empty()) return tl::unexpected(process_gone(pid));
  Inferior& inferior = *found;
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
  const auto is_same = [&] { return roster_.still_runs(program); };  // each stop that is handled may be its end
  const auto foothold = wait_for_foothold(program);
  if (!foothold && is_same()) await_exec(inferior);
  if (!foothold && !is_same()) return roster_.process(pid) ? Result<void>() : tl::unexpected(process_gone(pid));
  if (!foothold) return cannot(foothold.error());
  if (const auto allowed = check_filters(inferior); !allowed) return cannot(allowed.error());
  const RemoteRange libc = code_of_libc(*foothold);
  unblock_traps(program, libc);
  const bool needs_stop = is_same() && !inferior.program->space->memory().writes_without_stop();
  Result<void> done;
  if (is_same()) done = rendezvous_.with_guide(inferior, [&](Thread& guide) { return modules_.lay_net(inferior, guide, *foothold); }, attach_holds_);
  if (done && is_same()) await_forks(inferior);
  if (done && is_same()) meet_guests(pid);
  if (done && is_same())
    done = rendezvous_.with_guide(inferior, [&](Thread& guide) {
      auto entered = modules_.enter(inferior, guide, *foothold);
      if (entered && needs_stop) modules_.arm_loaded(inferior, guide.tid);
      return entered;
    }, attach_holds_);
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

// A fork copies the signal actions before the memory. One that began before the net was the SIGTRAP handler must not copy
// breakpoints: its child would have them without it, and nobody to mend that should we die. Who sleeps is not in a fork.
void Session::await_forks(const Inferior& inferior) {
  std::vector<pid_t> awake;
  for (const auto& [tid, thread] : inferior.threads)
    if (read_state(tid) != 'S') awake.push_back(tid);
  rendezvous_.stop_each(awake, [](Thread&) {}, &attach_holds_);
}

// An exec under way takes memory and threads away before its stop is seen. Handles stops until it is, or until it is sure that there is no
// exec. The new program is watched from its start.
void Session::await_exec(const Inferior& inferior) {
  const ProgramMark program = inferior.mark();
  const std::shared_ptr<AddressSpace> space = inferior.program->space;  // `inferior` may be gone behind a stop
  if (Thread* const any = rendezvous_.stop_any(inferior)) rendezvous_.settle(*any);
  const std::int64_t until = boottime_ns() + kLongestExec;
  while (roster_.still_runs(program) && space->memory().is_gone() && boottime_ns() < until && !rendezvous_.gives_up()) handle(turns_.next());
}

// Threads may have filters of their own; one of each sort is asked. Most processes have none, and nobody is stopped.
// A filter that nobody could be asked about may kill the program for what we do.
Result<void> Session::check_filters(const Inferior& inferior) {
  std::map<SeccompState, std::vector<pid_t>> sorts;
  for (const auto& [tid, thread] : inferior.threads) sorts[read_seccomp_state(tid)].push_back(tid);
  const ProgramMark program = inferior.mark();  // `inferior` may be gone behind a stop
  for (const auto& [state, tids] : sorts) {
    if (state.mode == 0) continue;
    if (Thread* const one = rendezvous_.stop_one_of(tids, program)) {
      const auto allowed = may_call(one->tid, kOurCalls);
      rendezvous_.settle(*one);
      if (!allowed) return allowed;
    } else if (roster_.still_runs(program) && std::ranges::any_of(tids, [&](pid_t tid) { return roster_.thread(tid) != nullptr; })) {
      return fail("a thread with a seccomp filter of its own is in a system call that nothing interrupts", "fade cannot see what the filter forbids", "try again later", EAGAIN);
    }
  }
  return {};
}

// TrapGuard's rule for threads that were there before us: for the kernel SIGTRAP is never blocked. libc (`libc` is its code)
// blocks all signals for moments and then sets the mask that it found, and a handler's are blocked while it runs: only who
// blocks it at several looks in a row, and sleeps or is elsewhere, means it; and whoever does is looked at again.
void Session::unblock_traps(ProgramMark program, RemoteRange libc) {
  std::unordered_map<pid_t, int> seen;
  std::unordered_set<pid_t> deaf;  // in vfork, or a driver: asked once
  for (int look = 1; look <= kMostLooks && roster_.still_runs(program) && !rendezvous_.gives_up(); ++look) {
    std::vector<pid_t> blocking;
    bool somebody = false;
    for (const auto& [tid, thread] : roster_.process(program.pid)->threads) {
      const std::uint64_t blocked = read_signal_sets(tid).blocked;
      somebody |= (blocked & kTrapBit) != 0;
      if (!(blocked & kTrapBit) || (blocked & kBitsOfLibc)) seen.erase(tid);
      else if (seen[tid]++ > 0 && !deaf.contains(tid)) blocking.push_back(tid);
    }
    if (!somebody) return;
    const auto left = rendezvous_.stop_each(blocking, [&](Thread& thread) {
      const auto registers = Tracee(thread.tid).registers();
      const bool slept = registers && (begun_again(*registers) || called_once_more(*registers));
      const bool is_elsewhere = registers && !libc.contains(registers->ip());
      if (slept || (seen[thread.tid] > kEnoughLooks && (is_elsewhere || look == kMostLooks))) TrapGuard::unblock(thread);
    }, &attach_holds_);
    deaf.insert(left.begin(), left.end());
    std::this_thread::sleep_for(kBetweenLooks);
  }
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
  const auto foothold = foothold_of(inferior.pid, inferior.program->space->memory());
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
  for (const auto& [pid, inferior] : roster_.processes())
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
  rendezvous_.stop_each(candidates, [&](const Thread& thread) {
    const auto registers = Tracee(thread.tid).registers();
    if (registers) copies.push_back({thread.tid, *registers, StackSnapshot(memory, registers->sp(), kCopied)});
  }, &attach_holds_);
  if (copies.empty() || !roster_.still_runs(mark)) return;
  CodeMap& code = stacks_.of(*inferior.program).code();
  for (const auto& [tid, registers, stack] : copies)
    for (const std::string& name : calls.of(native_frames(code, tid, registers, stack, kMostFrames)))
      if (Thread* thread = roster_.thread(tid)) {
        note(*thread, "in flight", 0, name);
        thread->earlier_calls.push_back(name);
        calls_in_flight_.push_back(fmt::format("{} (thread {})", name, tid));
      }
}

}  // namespace fade
