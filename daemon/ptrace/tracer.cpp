#include "ptrace/tracer.hpp"

#include <signal.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <utility>

#include "base/clock.hpp"
#include "ptrace/tracee.hpp"

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

namespace fade {
namespace {

constexpr long kOptions = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE |
                          PTRACE_O_TRACEEXEC | PTRACE_O_TRACEVFORKDONE | PTRACE_O_TRACEEXIT;

constexpr std::pair<int, Stop::Kind> kEvents[] = {
    {PTRACE_EVENT_FORK, Stop::Kind::Fork},   {PTRACE_EVENT_VFORK, Stop::Kind::Vfork},
    {PTRACE_EVENT_CLONE, Stop::Kind::Clone}, {PTRACE_EVENT_EXEC, Stop::Kind::Exec},
    {PTRACE_EVENT_VFORK_DONE, Stop::Kind::VforkDone}, {PTRACE_EVENT_EXIT, Stop::Kind::Exit},
};

void reap_ptrace_stop(pid_t tid) {
  siginfo_t ignored;
  ::waitid(P_PID, static_cast<id_t>(tid), &ignored, WSTOPPED | WNOHANG | __WALL);
}

bool is_stop_signal(int signal) {
  return signal == SIGSTOP || signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU;
}

Stop ptrace_stop(pid_t tid, int status) {
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
  for (const auto& [number, kind] : kEvents) {
    if (event != number) continue;
    stop.kind = kind;
    // An exec that changed the thread's pid answers to no request until it is waited for (Linux 5.14, looks_like_a_spurious_pid in
    // kernel/ptrace.c).
    if (kind == Stop::Kind::Exec) reap_ptrace_stop(tid);
    stop.message = Tracee(tid).event_message().value_or(0);
  }
  return stop;
}

Stop to_stop(const siginfo_t& info) {
  switch (info.si_code) {
    case CLD_EXITED: return {.kind = Stop::Kind::Exited, .tid = info.si_pid, .status = info.si_status};
    case CLD_KILLED:
    case CLD_DUMPED: return {.kind = Stop::Kind::Killed, .tid = info.si_pid, .status = info.si_status};
    case CLD_STOPPED:  // a child that we inherited by exec and do not trace: its stop is nobody's
      reap_ptrace_stop(info.si_pid);
      return {};
    default: return ptrace_stop(info.si_pid, info.si_status);
  }
}

void reap(pid_t tid) {
  siginfo_t ignored;
  ::waitid(P_PID, static_cast<id_t>(tid), &ignored, WEXITED | WNOHANG | __WALL);
}

Stop taken(const siginfo_t& info) {
  const Stop stop = to_stop(info);
  if (stop.kind == Stop::Kind::Exited || stop.kind == Stop::Kind::Killed) reap(stop.tid);
  return stop;
}

constexpr int kLook = WEXITED | WSTOPPED | WNOWAIT | __WALL;

void ignore_tick(int) {}

}  // namespace

Result<Tracer> Tracer::create(std::chrono::milliseconds tick) {
  Tracer tracer;
  struct sigaction action {};
  action.sa_handler = ignore_tick;  // no SA_RESTART: the tick exists to interrupt a wait
  if (::sigaction(SIGALRM, &action, nullptr) != 0) return fail_errno("cannot set the handler of the tick");
  sigset_t tick_signal;
  sigemptyset(&tick_signal);
  sigaddset(&tick_signal, SIGALRM);
  ::pthread_sigmask(SIG_UNBLOCK, &tick_signal, nullptr);  // whoever started us may have blocked it
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

Result<void> Tracer::seize(pid_t tid, bool kill_on_exit) {
  const long options = kOptions | (kill_on_exit ? PTRACE_O_EXITKILL : 0);
  if (::ptrace(PTRACE_SEIZE, tid, nullptr, options) == 0) return {};
  return fail_errno("cannot trace process " + std::to_string(tid));
}

Stop Tracer::next() const {
  siginfo_t info{};
  if (::waitid(P_ALL, 0, &info, kLook) != 0) return {.kind = errno == ECHILD ? Stop::Kind::Gone : Stop::Kind::None};
  return taken(info);
}

Stop Tracer::next_if_stopped(pid_t tid) const {
  siginfo_t info{};
  if (::waitid(P_PID, static_cast<id_t>(tid), &info, kLook | WNOHANG) != 0 || info.si_pid == 0) return {};
  return taken(info);
}

void Tracer::reap_end(pid_t tid) const { reap(tid); }

void Tracer::reap_stop(pid_t tid) const { reap_ptrace_stop(tid); }

Stop Tracer::next_of(pid_t tid) const {
  siginfo_t info{};
  while (::waitid(P_PID, static_cast<id_t>(tid), &info, kLook) != 0)
    if (errno != EINTR) return {.kind = Stop::Kind::Gone, .tid = tid};
  return to_stop(info);  // an end stays unreaped: next() reports it to whoever keeps the books
}

// The tick ends the wait now and then; asking again and again would be either late or busy.
std::optional<Stop> Tracer::next_of(pid_t tid, std::chrono::nanoseconds patience) const {
  const std::int64_t deadline = boottime_ns() + patience.count();
  siginfo_t info{};
  while (::waitid(P_PID, static_cast<id_t>(tid), &info, kLook) != 0) {
    if (errno != EINTR) return Stop{.kind = Stop::Kind::Gone, .tid = tid};
    if (boottime_ns() >= deadline) return std::nullopt;
  }
  return to_stop(info);
}

}  // namespace fade
