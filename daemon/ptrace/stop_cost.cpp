#include "ptrace/stop_cost.hpp"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/thread_cpus.hpp"
#include "proc/proc_files.hpp"
#include "proc/sched_times.hpp"
#include "ptrace/tracee.hpp"

// The child asks for a tracer, forbids a core file of itself, then stops at its entry and at its return for ever.
// Without a tracer the next int3 kills the child, so it never outlives the tracer. If the tracer, whose number is in
// %rdi, dies before the child has asked, the child would ask its next parent, so it ends. It uses no stack, no libc and
// no thread-local data, because another thread of the tracer may hold libc's locks while the child is made.
asm(R"(
        .text
        .globl fade_calling_child
        .type fade_calling_child, @function
fade_calling_child:
        mov     %edi, %ebx
        mov     $1, %edi
        mov     $9, %esi
        mov     $157, %eax
        syscall
        mov     $110, %eax
        syscall
        cmp     %eax, %ebx
        jne     2f
        xor     %edi, %edi
        xor     %esi, %esi
        xor     %edx, %edx
        xor     %r10d, %r10d
        mov     $101, %eax
        syscall
        test    %rax, %rax
        jnz     2f
        xor     %esi, %esi
        mov     $4, %edi
        mov     $157, %eax
        syscall
1:      int3
        nop
        int3
        jmp     1b
2:      mov     $1, %edi
        mov     $60, %eax
        syscall
        ud2
        .size fade_calling_child, . - fade_calling_child
)");
static_assert(SYS_ptrace == 101 && PTRACE_TRACEME == 0 && SYS_exit == 60 && SYS_prctl == 157 && PR_SET_DUMPABLE == 4);
static_assert(PR_SET_PDEATHSIG == 1 && SIGKILL == 9 && SYS_getppid == 110);
extern "C" int fade_calling_child(void*);

namespace fade {
namespace {

constexpr std::uint32_t kWarmUp = 4, kFewest = 16;  // calls of each form

// Blocks all signals of this thread except the breakpoint's.
class NoSignals {
 public:
  NoSignals() {
    sigset_t all;
    ::sigfillset(&all);
    ::sigdelset(&all, SIGTRAP);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~NoSignals() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  NoSignals(const NoSignals&) = delete;
  NoSignals& operator=(const NoSignals&) = delete;

 private:
  sigset_t before_;
};

// Owns the child: kills and reaps it in every case.
class CallingChild {
 public:
  static Result<CallingChild> start() {
    alignas(16) static std::byte stack[1024];  // clone(3) puts its arguments there
    const NoSignals meanwhile;  // the child keeps this mask: no handler of this process may run in the child
    // Memory of its own, as a program has: a stop includes the switch of address spaces. No signal reports its end. It
    // keeps no descriptor open, because it shares the descriptors of this process.
    auto* const tracer = reinterpret_cast<void*>(static_cast<std::uintptr_t>(::getpid()));
    const int pid = ::clone(fade_calling_child, stack + sizeof stack, CLONE_FILES | CLONE_FS, tracer);
    if (pid < 0) return fail_errno("cannot make a child");
    return CallingChild(Pid::of(pid));
  }
  explicit CallingChild(Pid pid) : pid_(pid) {}
  CallingChild(CallingChild&& other) noexcept : pid_(std::exchange(other.pid_, Pid())) {}
  CallingChild& operator=(CallingChild&&) = delete;
  ~CallingChild() {
    if (pid_ == 0) return;
    come_here();
    ::kill(pid_.value(), SIGKILL);
    while (::waitpid(pid_.value(), nullptr, __WALL) < 0 && errno == EINTR) {}
  }
  Tid tid() const { return leader_of(pid_); }

 private:
  // Its last instructions need a CPU, too. This thread's is free while this thread waits.
  void come_here() const {
    ThreadCpus theirs(tid());
    if (const int cpu = ::sched_getcpu(); cpu >= 0) theirs.only(cpu);
  }

  Pid pid_;
};

// Both threads stay on the CPU of the caller, as the tracer of a session stays on its program's CPU.
class OneCpu {
 public:
  explicit OneCpu(Tid child) : theirs_(child), cpu_(::sched_getcpu()) {
    if (cpu_ >= 0 && ours_.only(cpu_)) theirs_.only(cpu_);
  }
  ~OneCpu() { ours_.restore(); }
  OneCpu(const OneCpu&) = delete;
  OneCpu& operator=(const OneCpu&) = delete;
  // The child may use all CPUs but this one. Returns false if there is no other.
  bool separate() { return cpu_ >= 0 && theirs_.all_but(cpu_); }

 private:
  ThreadCpus ours_, theirs_;
  const int cpu_;
};

// The time for which the child runs. Its own instructions take next to none, so all of it belongs to its stops.
class RunTime {
 public:
  explicit RunTime(Tid child)
      : schedstat_(::open(ProcFiles().path(child, "schedstat").c_str(), O_RDONLY | O_CLOEXEC)),
        before_(SchedTimes::read(schedstat_)) {}
  // Since the object was made, for each of so many stops. 0: not known.
  std::int64_t each(std::int64_t stops) const {
    const auto now = SchedTimes::read(schedstat_);
    return now && before_ ? (now->ran_ns - before_->ran_ns) / stops : 0;
  }

 private:
  const Fd schedstat_;
  const std::optional<SchedTimes> before_;
};

class Calls {
 public:
  Calls(const Tracer& tracer, Tid tid, std::chrono::nanoseconds wait) : tracer_(tracer), child_(tid), wait_(wait) {}

  // One call of the child, with the requests of a session, in their order. Returns false if the child stopped for
  // another reason, or did not stop in time.
  bool one(EntryForm form) {
    Samples& samples = forms_[static_cast<std::size_t>(form)];
    if (!stop(form == EntryForm::Int3)) return false;
    const std::int64_t began = last_.begins;
    if (!stop(true)) return false;
    samples.call.push_back(last_.reported - began);
    samples.stop.push_back(last_.took);
    return true;
  }
  bool late() const { return late_; }
  void forget() { forms_ = {}; }
  StopCosts costs(EntryForm form) {
    Samples& samples = forms_[static_cast<std::size_t>(form)];
    return {static_cast<std::uint32_t>(samples.call.size()), Measured::of(samples.call), Measured::of(samples.stop), 0};
  }

 private:
  struct Samples {
    std::vector<std::int64_t> call, stop;
  };
  struct Seen {
    // time of the stop; of the call, if this is its entry; of the resumption
    std::int64_t reported = 0, begins = 0, let_go = 0;
    std::int64_t took = 0;  // from the last let_go to this stop
  };

  bool stop(bool sends_on) {
    // A session asks its known threads before it waits for any thread (Turns).
    Stop stop = tracer_.next_if_stopped(child_.tid());
    if (stop.kind == Stop::Kind::None) {
      const auto next = tracer_.next_of(child_.tid(), wait_);
      late_ = !next;
      if (late_) return false;
      stop = *next;
    }
    const std::int64_t now = boottime_ns();
    if (stop.kind != Stop::Kind::Signal || stop.signal != SIGTRAP) return false;
    last_ = {.reported = now, .took = now - last_.let_go};
    const auto registers = child_.registers();
    if (!registers || (sends_on && !child_.set_ip(registers->ip()))) return false;
    last_.begins = boottime_ns();
    last_.let_go = boottime_ns();
    return child_.resume();
  }

  const Tracer& tracer_;
  const Tracee child_;
  const std::chrono::nanoseconds wait_;
  bool late_ = false;
  Seen last_;
  std::array<Samples, 2> forms_;
};

}  // namespace

Result<CallCosts> measure_stops(const Tracer& tracer, StopCostLimits limits) {  // with a child: DECISIONS 97
  const std::int64_t since = boottime_ns();
  const auto within = [&](std::chrono::nanoseconds limit) { return boottime_ns() - since < limit.count(); };
  const auto child = CallingChild::start();
  if (!child) return tl::unexpected(child.error());
  OneCpu together(child->tid());
  Calls calls(tracer, child->tid(), limits.wait);
  const auto both = [&] { return calls.one(EntryForm::Jump) && calls.one(EntryForm::Int3); };
  for (std::uint32_t i = 0; i < kWarmUp && (i == 0 || within(limits.most)); ++i)
    if (!both())
      return fail(calls.late() ? "no CPU was free for the child that measures" : "a child of fade cannot be traced");
  calls.forget();
  const RunTime run(child->tid());
  const auto enough = [&](std::uint32_t made) {
    return made >= limits.calls || (made >= kFewest && !within(limits.time)) || (made > 0 && !within(limits.most));
  };
  for (std::uint32_t made = 0; !enough(made); ++made) {
    if (both()) continue;
    if (!calls.late()) return fail("a signal came to the child that measures");
    if (made == 0) return fail("no CPU was free for the child that measures");
    break;
  }
  CallCosts costs{calls.costs(EntryForm::Jump), calls.costs(EntryForm::Int3), {}};
  costs.jump.run_ns = costs.int3.run_ns = run.each(2 * (costs.jump.calls + costs.int3.calls));
  if (calls.late() || !within(limits.most) || !together.separate()) return costs;
  calls.forget();
  for (std::uint32_t made = 0; made < limits.calls_apart && within(limits.most); ++made)
    if (!calls.one(EntryForm::Jump)) return costs;
  costs.apart = calls.costs(EntryForm::Jump);
  return costs;
}

}  // namespace fade
