#include "ptrace/tracer.hpp"

#include <signal.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/ucontext.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <utility>

#include "base/clock.hpp"
#include "proc/living_thread.hpp"
#include "ptrace/tracee.hpp"

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

// fade_seize(tid.value(), options): ptrace(PTRACE_SEIZE), its result or a negative errno. The kernel restarts an
// interrupted call (ERESTARTNOINTR) and shows the signal handler the address of the system call: the handler may end
// the call there.
asm(R"(
        .text
        .type fade_seize, @function
fade_seize:
        mov     %rsi, %r10
        mov     %rdi, %rsi
        xor     %edx, %edx
        mov     $0x4206, %edi
        mov     $101, %eax
fade_seize_begins:
        syscall
fade_seize_ends:
        ret
        .size fade_seize, . - fade_seize
)");
static_assert(PTRACE_SEIZE == 0x4206 && SYS_ptrace == 101);
extern "C" {
long fade_seize(long tid, long options);
extern const char fade_seize_begins[], fade_seize_ends[];
}

namespace fade {
namespace {

constexpr long kOptions = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE |
                          PTRACE_O_TRACEEXEC | PTRACE_O_TRACEVFORKDONE | PTRACE_O_TRACEEXIT;

constexpr std::pair<int, Stop::Kind> kEvents[] = {
    {PTRACE_EVENT_FORK, Stop::Kind::Fork},
    {PTRACE_EVENT_VFORK, Stop::Kind::Vfork},
    {PTRACE_EVENT_CLONE, Stop::Kind::Clone},
    {PTRACE_EVENT_EXEC, Stop::Kind::Exec},
    {PTRACE_EVENT_VFORK_DONE, Stop::Kind::VforkDone},
    {PTRACE_EVENT_EXIT, Stop::Kind::Exit},
};

void reap_ptrace_stop(Tid tid) {
  siginfo_t ignored;
  ::waitid(P_PID, static_cast<id_t>(tid.value()), &ignored, WSTOPPED | WNOHANG | __WALL);
}

bool is_stop_signal(int signal) {
  return signal == SIGSTOP || signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU;
}

Stop ptrace_stop(Tid tid, int status) {
  Stop stop{.kind = Stop::Kind::Signal, .tid = tid, .signal = status & 0xff};
  const int event = status >> 8;
  if (event == PTRACE_EVENT_STOP) {
    stop.kind = is_stop_signal(stop.signal) ? Stop::Kind::Group : Stop::Kind::Trap;
    return stop;
  }
  if (stop.signal == (SIGTRAP | 0x80)) {
    stop.kind = Stop::Kind::Syscall;
    return stop;
  }
  for (const auto& [number, kind] : kEvents)
    if (event == number) stop.kind = kind;
  if (stop.kind != Stop::Kind::Signal) stop.message = Tracee(tid).event_message().value_or(0);
  return stop;
}

Stop to_stop(const siginfo_t& info) {
  const Tid tid = Tid::of(info.si_pid);
  switch (info.si_code) {
    case CLD_EXITED: return {.kind = Stop::Kind::Exited, .tid = tid, .status = info.si_status};
    case CLD_KILLED:
    case CLD_DUMPED: return {.kind = Stop::Kind::Killed, .tid = tid, .status = info.si_status};
    case CLD_STOPPED:  // a child that fade inherited by exec and does not trace: ignore its stop
      reap_ptrace_stop(tid);
      return {};
    default: return ptrace_stop(tid, info.si_status);
  }
}

void reap(Tid tid) {
  siginfo_t ignored;
  ::waitid(P_PID, static_cast<id_t>(tid.value()), &ignored, WEXITED | WNOHANG | __WALL);
}

// The kernel answers no request to a thread whose pid an exec has changed until its stop is waited for (Linux 5.13,
// looks_like_a_spurious_pid in kernel/ptrace.c).
Stop taken(const siginfo_t& info) {
  Stop stop = to_stop(info);
  if (stop.kind == Stop::Kind::Exited || stop.kind == Stop::Kind::Killed) reap(stop.tid);
  if (stop.kind != Stop::Kind::Exec) return stop;
  reap_ptrace_stop(stop.tid);
  stop.message = Tracee(stop.tid).event_message().value_or(0);
  return stop;
}

constexpr int kLook = WEXITED | WSTOPPED | WNOWAIT | __WALL;  // the stop is not reaped: DECISIONS 13

// The tick interrupts waits, also the wait of PTRACE_SEIZE.
void on_tick(int, siginfo_t*, void* context) {
  auto& registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  if (registers[REG_RIP] != reinterpret_cast<greg_t>(fade_seize_begins)) return;
  registers[REG_RIP] = reinterpret_cast<greg_t>(fade_seize_ends);
  registers[REG_RAX] = -EINTR;
}

}  // namespace

Result<Tracer> Tracer::create(std::chrono::milliseconds tick) {
  Tracer tracer;
  struct sigaction action {};
  action.sa_sigaction = on_tick;
  action.sa_flags = SA_SIGINFO;  // and no SA_RESTART
  if (::sigaction(SIGALRM, &action, nullptr) != 0) return fail_errno("cannot set the handler of the tick");
  sigset_t tick_signal;
  sigemptyset(&tick_signal);
  sigaddset(&tick_signal, SIGALRM);
  ::pthread_sigmask(SIG_UNBLOCK, &tick_signal, nullptr);  // the parent process may have blocked it
  sigevent event{};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = SIGALRM;
  event.sigev_notify_thread_id = static_cast<pid_t>(::syscall(SYS_gettid));
  timer_t timer;
  if (::timer_create(CLOCK_MONOTONIC, &event, &timer) != 0) return fail_errno("cannot create the tick timer");
  tracer.timer_ = timer;
  tracer.armed_ = true;
  const auto ns = std::chrono::nanoseconds(tick).count();
  const timespec period{.tv_sec = ns / 1'000'000'000, .tv_nsec = ns % 1'000'000'000};
  const itimerspec spec{.it_interval = period, .it_value = period};
  if (::timer_settime(timer, 0, &spec, nullptr) != 0) return fail_errno("cannot start the tick timer");
  return tracer;
}

Tracer::Tracer(Tracer&& other) noexcept : timer_(other.timer_), armed_(std::exchange(other.armed_, false)) {}

Tracer::~Tracer() {
  if (armed_) ::timer_delete(timer_);
}

Result<void> Tracer::seize(Tid tid, bool kill_on_exit) {
  const long failed = fade_seize(tid.value(), kOptions | (kill_on_exit ? PTRACE_O_EXITKILL : 0));
  if (failed == 0) return {};
  return fail_errno("cannot trace process " + std::to_string(tid.value()), static_cast<int>(-failed));
}

Stop Tracer::next() const {
  siginfo_t info{};
  if (::waitid(P_ALL, 0, &info, kLook) != 0) return {.kind = errno == ECHILD ? Stop::Kind::Gone : Stop::Kind::None};
  return taken(info);
}

Stop Tracer::next_if_any() const {
  siginfo_t info{};
  if (::waitid(P_ALL, 0, &info, kLook | WNOHANG) != 0 || info.si_pid == 0) return {};
  return taken(info);
}

Stop Tracer::next_if_stopped(Tid tid) const {
  siginfo_t info{};
  if (::waitid(P_PID, static_cast<id_t>(tid.value()), &info, kLook | WNOHANG) != 0 || info.si_pid == 0) return {};
  return taken(info);
}

void Tracer::reap_end(Tid tid) const { reap(tid); }

void Tracer::reap_stop(Tid tid) { reap_ptrace_stop(tid); }

Stop Tracer::next_of(Tid tid) const { return *next_of(tid, std::chrono::nanoseconds::max()); }

// The tick ends the wait from time to time. Meanwhile the thread may have ended as a leader whose threads live, which
// no wait reports.
std::optional<Stop> Tracer::next_of(Tid tid, std::chrono::nanoseconds patience) const {
  const std::int64_t since = boottime_ns();
  siginfo_t info{};
  while (::waitid(P_PID, static_cast<id_t>(tid.value()), &info, kLook) != 0) {
    if (errno != EINTR || has_ended(tid)) return Stop{.kind = Stop::Kind::Gone, .tid = tid};
    if (boottime_ns() - since >= patience.count()) return std::nullopt;
  }
  return to_stop(info);
}

}  // namespace fade
