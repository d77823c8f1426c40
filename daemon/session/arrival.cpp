#include "session/arrival.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include <algorithm>
#include <map>
#include <thread>
#include <unordered_set>

#include "proc/processes.hpp"
#include "proc/signal_bits.hpp"
#include "ptrace/interrupted.hpp"
#include "ptrace/seccomp_filter.hpp"
#include "session/in_flight.hpp"
#include "session/process_facts.hpp"
#include "session/sigtrap/trap_guard.hpp"

namespace fade {
namespace {

constexpr int kStartTime = 500;                       // looks, at a program that has just been executed
constexpr std::int64_t kLongestExec = 2'000'000'000;  // from the end of the old program to the stop of the new one
constexpr int kMostLooks = 10, kEnoughLooks = 4;
constexpr std::chrono::milliseconds kBetweenLooks{1};
constexpr std::size_t kCopied = 256 * 1024, kMostFrames = 256;  // of each stack

// The system calls that SafetyNet and AddressSpace make in a thread, and those that it makes by itself if fade dies.
constexpr PlannedCall kOurCalls[] = {
    {"mmap",
     SYS_mmap,
     {0, 0, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, ~std::uint64_t{0}, 0}},
    {"mprotect", SYS_mprotect, {0, 0, PROT_READ | PROT_WRITE}},
    {"munmap", SYS_munmap},
    {"rt_sigaction", SYS_rt_sigaction, {SIGTRAP, 0, 0, 8}},
    {"rt_sigreturn", SYS_rt_sigreturn},
};

RemoteRange code_of_libc(const Foothold& foothold) {
  const auto it =
      std::ranges::find_if(foothold.modules, [&](const RemoteRange& module) { return module.contains(foothold.libc); });
  return it == foothold.modules.end() ? RemoteRange{} : *it;
}

}  // namespace

Result<void> Arrival::watch(Inferior& inferior) {
  const ProgramMark program = inferior.mark();
  threads_ += inferior.threads.size();
  parts_.roster.note(*inferior.threads.begin()->second, "attach", program.pid.value(), {});
  const auto foothold = wait_for_foothold(program);
  Result<void> done = foothold ? enter(inferior, *foothold) : Result<void>(tl::unexpected(foothold.error()));
  if (!done && done.error().code != ECANCELED && parts_.roster.still_runs(program)) await_exec(inferior);
  if (parts_.roster.still_runs(program)) return done;
  const bool is_gone = read_thread_ids(program.pid).empty() || (!foothold && !parts_.roster.process(program.pid));
  return is_gone ? Result<void>(tl::unexpected(process_gone(program.pid))) : Result<void>();
}

// Behind each step the program may be another one: the steps that follow do nothing then.
Result<void> Arrival::enter(Inferior& inferior, const Foothold& foothold) {
  const ProgramMark program = inferior.mark();
  const RemoteRange libc = code_of_libc(foothold);
  if (auto allowed = check_filters(inferior); !allowed) return allowed;
  unblock_traps(program, libc);
  if (!parts_.roster.still_runs(program)) return {};
  const bool needs_stop = !inferior.memory().writes_without_stop();
  if (auto laid = lay_net(inferior, foothold); !laid || !parts_.roster.still_runs(program)) return laid;
  auto entered = rendezvous_.with_guide(
      inferior,
      [&](Thread& guide) {
        auto done = parts_.modules.enter(inferior, guide, foothold);
        if (done && needs_stop) parts_.modules.arm_loaded(inferior, guide.tid);
        return done;
      },
      holds_);
  if (!entered || !parts_.roster.still_runs(program)) return entered;
  inferior.watched = true;
  unblock_traps(program, libc);  // of threads that were in the middle of setting their masks
  if (!needs_stop && parts_.roster.still_runs(program)) parts_.modules.arm_loaded(inferior, kNobody);
  if (parts_.roster.still_runs(program) && parts_.modules.armed() > 0) tell_calls_in_flight(inferior);
  return {};
}

Result<void> Arrival::lay_net(Inferior& inferior, const Foothold& foothold) {
  const ProgramMark program = inferior.mark();
  auto laid = rendezvous_.with_guide(
      inferior, [&](Thread& guide) { return parts_.modules.lay_net(inferior, guide, foothold); }, holds_);
  if (laid && parts_.roster.still_runs(program)) await_forks(inferior);
  if (laid && parts_.roster.still_runs(program)) parts_.meet_guests(program.pid);
  return laid;
}

// Stops are handled meanwhile: a program that has just begun needs that to get on.
Result<Foothold> Arrival::wait_for_foothold(ProgramMark program) {
  for (int look = 0; parts_.roster.still_runs(program); ++look) {
    auto foothold = foothold_of(program.pid, parts_.roster.process(program.pid)->memory());
    if (foothold || foothold.error().code != EAGAIN || rendezvous_.gives_up()) return foothold;
    if (look == kStartTime) {
      foothold.error().code = ENOTSUP;
      return foothold;
    }
    rendezvous_.serve_stops();
    std::this_thread::sleep_for(kBetweenLooks);
  }
  return tl::unexpected(process_gone(program.pid));
}

// A fork copies the signal actions before the memory. A fork that began before the net was the SIGTRAP handler must not
// copy breakpoints: its child would have them without the net, and would die if fade did. A thread that sleeps is not
// in a fork.
void Arrival::await_forks(const Inferior& inferior) {
  std::vector<Tid> awake;
  for (const auto& [tid, thread] : inferior.threads)
    if (read_state(tid) != 'S') awake.push_back(tid);
  rendezvous_.stop_each(
      awake, [](Thread&) {}, &holds_);
}

// An exec takes memory and threads away before its stop is seen. Handles stops until that stop, or until it is sure
// that there is no exec.
void Arrival::await_exec(const Inferior& inferior) {
  const ProgramMark program = inferior.mark();
  const std::shared_ptr<AddressSpace> space = inferior.program->space;  // `inferior` may be gone behind a stop
  if (Thread* const any = rendezvous_.stop_any(inferior)) rendezvous_.settle(*any);
  const std::int64_t until = boottime_ns() + kLongestExec;
  while (parts_.roster.still_runs(program) && space->memory().is_gone() && boottime_ns() < until &&
         !rendezvous_.gives_up())
    rendezvous_.serve_next();
}

// Threads may have seccomp filters of their own; one thread for each sort of filter is stopped and asked. Most
// processes have none. A filter that could not be asked may kill the program for the system calls of fade, so the
// arrival ends there.
Result<void> Arrival::check_filters(const Inferior& inferior) {
  std::map<SeccompState, std::vector<Tid>> sorts;
  for (const auto& [tid, thread] : inferior.threads) sorts[read_seccomp_state(tid)].push_back(tid);
  const ProgramMark program = inferior.mark();  // `inferior` may be gone behind a stop
  for (const auto& [state, tids] : sorts) {
    if (state.mode == 0) continue;
    if (Thread* const one = rendezvous_.stop_one_of(tids, program)) {
      const auto allowed = may_call(one->tid, kOurCalls);
      rendezvous_.settle(*one);
      if (!allowed) return allowed;
    } else if (parts_.roster.still_runs(program) &&
               std::ranges::any_of(tids, [&](Tid tid) { return parts_.roster.thread(tid) != nullptr; })) {
      return fail("a thread with a seccomp filter of its own is in a system call that nothing interrupts",
                  "fade cannot see what the filter forbids", "try again later", EAGAIN);
    }
  }
  return {};
}

// Applies TrapGuard's rule to threads that were there before fade: for the kernel, SIGTRAP is never blocked. libc
// blocks all signals for moments, then sets the mask that it found, and a handler blocks its own while it runs. So only
// a thread that blocks SIGTRAP at several looks in a row, and sleeps or is outside of `libc`, means to block it.
void Arrival::unblock_traps(ProgramMark program, RemoteRange libc) {
  std::unordered_map<Tid, int> seen;
  std::unordered_set<Tid> deaf;  // threads in vfork or in a driver: asked once
  for (int look = 1; look <= kMostLooks && parts_.roster.still_runs(program) && !rendezvous_.gives_up(); ++look) {
    std::vector<Tid> blocking;
    bool is_any_blocked = false;
    for (const auto& [tid, thread] : parts_.roster.process(program.pid)->threads) {
      const std::uint64_t blocked = read_signal_sets(tid).blocked;
      is_any_blocked |= (blocked & kTrapBit) != 0;
      if (!(blocked & kTrapBit) || (blocked & kBitsOfLibc)) seen.erase(tid);
      else if (seen[tid]++ > 0 && !deaf.contains(tid)) blocking.push_back(tid);
    }
    if (!is_any_blocked) return;
    const auto left = rendezvous_.stop_each(
        blocking,
        [&](Thread& thread) {
          const auto registers = Tracee(thread.tid).registers();
          const bool slept = registers && (begun_again(*registers) || called_once_more(*registers));
          const bool is_elsewhere = registers && !libc.contains(registers->ip());
          if (slept || (seen[thread.tid] > kEnoughLooks && (is_elsewhere || look == kMostLooks)))
            parts_.guard.unblock(thread);
        },
        &holds_);
    deaf.insert(left.begin(), left.end());
    std::this_thread::sleep_for(kBetweenLooks);
  }
}

// Threads sleep most of the time, and a sleeping thread shows without a stop whether it may be in a call.
void Arrival::tell_calls_in_flight(Inferior& inferior) {
  const ProgramMark mark = inferior.mark();
  const std::shared_ptr<AddressSpace> space = inferior.program->space;  // `inferior` may be gone behind a stop
  const ProcessMemory& memory = space->memory();
  const CallsInFlight calls(*inferior.program, parts_.functions);
  std::vector<Tid> candidates;
  for (const auto& [tid, thread] : inferior.threads)
    if (const RemoteAddr sp = read_stack_pointer(tid); !sp || calls.may_be_in_one(sp)) candidates.push_back(tid);
  struct Copy {
    Tid tid;
    Registers registers;
    StackSnapshot stack;
  };
  std::vector<Copy> copies;
  rendezvous_.stop_each(
      candidates,
      [&](const Thread& thread) {
        const auto registers = Tracee(thread.tid).registers();
        if (registers) copies.push_back({thread.tid, *registers, StackSnapshot(memory, registers->sp(), kCopied)});
      },
      &holds_);
  if (copies.empty() || !parts_.roster.still_runs(mark)) return;
  CodeMap& code = parts_.stacks.of(*inferior.program).code();
  for (const auto& [tid, registers, stack] : copies)
    for (const std::string& name : calls.of(native_frames(code, tid, registers, stack, kMostFrames)))
      if (Thread* thread = parts_.roster.thread(tid)) {
        parts_.roster.note(*thread, "in flight", 0, name);
        thread->earlier_calls.push_back(name);
        calls_in_flight_.push_back(fmt::format("{} (thread {})", name, tid));
      }
}

}  // namespace fade
