// Tracees made by fork: they run a function of the test itself. And tracers that are killed at a chosen system call.
#pragma once
#include <fcntl.h>
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>

#include "base/fd.hpp"
#include "ptrace/remote_call.hpp"
#include "ptrace/tracee.hpp"
#include "ptrace/tracer.hpp"

// Code for remote calls, the same in every fork of the test. Weak: every file that includes this has it.
asm(R"(
        .text
        .weak fade_test_syscall_ret, fade_test_sigreturn
fade_test_sigreturn:
        mov $15, %eax
        syscall
fade_test_syscall_ret:
        syscall
        ret
)");
extern "C" const char fade_test_syscall_ret[], fade_test_sigreturn[];

namespace fade::test {

inline RemoteAddr address_of(const void* local) { return {reinterpret_cast<std::uint64_t>(local)}; }
inline RemoteGadgets gadgets() { return {address_of(fade_test_syscall_ret), address_of(fade_test_sigreturn)}; }

// A child of the test that waits for go() and then exits with what `body` returns. Killed and reaped at the end.
class Child {
 public:
  explicit Child(const std::function<int()>& body) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) std::abort();
    pid_ = Pid::of(::fork());
    if (pid_ == 0) {
      ::close(ends[1]);
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      char leave;
      if (::read(ends[0], &leave, 1) != 1) ::_exit(99);
      ::_exit(body());
    }
    ::close(ends[0]);
    go_ = Fd(ends[1]);
  }
  ~Child() {
    if (status_) return;
    ::kill(pid_.value(), SIGKILL);
    wait();
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  Pid pid() const { return pid_; }
  Tid tid() const { return leader_of(pid_); }  // of its first thread
  void go() {
    if (::write(go_.get(), "", 1) != 1) std::abort();
  }
  // Its wait status. Only where no tracer of this process is to see its end, nor its stop before that.
  int wait() {
    int status = 0;
    while ((::waitpid(pid_.value(), &status, __WALL) < 0 && errno == EINTR) || WIFSTOPPED(status))
      Tracee(tid()).resume();
    status_ = status;
    return status;
  }
  void was_reaped() { status_ = 0; }

 private:
  Pid pid_ = 0;
  Fd go_;
  std::optional<int> status_;
};

// Memory that forks share.
template <class T>
class Shared {
 public:
  Shared() : at_(::new (::mmap(nullptr, sizeof(T), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) T()) {}
  ~Shared() { ::munmap(static_cast<void*>(at_), sizeof(T)); }
  Shared(const Shared&) = delete;
  Shared& operator=(const Shared&) = delete;
  T& operator*() const { return *at_; }
  T* operator->() const { return at_; }

 private:
  T* at_;
};

inline Tracer make_tracer(std::chrono::milliseconds tick = std::chrono::milliseconds(50)) {
  auto tracer = Tracer::create(tick);
  if (!tracer) std::abort();
  return std::move(*tracer);
}

// Waits for it, a minute at most.
inline bool eventually(const std::function<bool()>& condition) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    ::usleep(1000);
  }
  return true;
}

// The next stop of anyone, ticks left out.
// The last stop of a thread, before its end, is passed over: who wants to see it asks the tracer.
inline Stop next_stop(const Tracer& tracer) {
  for (;;) {
    const Stop stop = tracer.next();
    if (stop.kind == Stop::Kind::Exit) Tracee(stop.tid).resume();
    else if (stop.kind != Stop::Kind::None) return stop;
  }
}

// Runs `body` as a tracer in a process of its own, which is killed at its `n`th system call stop (entries and exits
// count) after `body` began. False: it ended before.
inline bool kill_tracer_at(int n, const std::function<void()>& body) {
  Child victim([&] {
    ::raise(SIGUSR1);  // from here on is counted
    body();
    return 0;
  });
  const Tracer tracer = make_tracer(std::chrono::hours(1));
  if (!tracer.seize(victim.tid(), true)) std::abort();
  victim.go();
  const Tracee tracee(victim.tid());
  bool counting = false;
  for (int count = 0; count < n;) {
    const Stop stop = tracer.next_of(victim.tid());
    if (stop.kind == Stop::Kind::Exited || stop.kind == Stop::Kind::Killed || stop.kind == Stop::Kind::Gone)
      return false;
    const bool begins = stop.kind == Stop::Kind::Signal && stop.signal == SIGUSR1;
    counting |= begins;
    count += counting && stop.kind == Stop::Kind::Syscall;
    if (count == n) break;
    tracee.resume_to_syscall(begins || stop.kind != Stop::Kind::Signal ? 0 : stop.signal);
  }
  ::kill(victim.pid().value(), SIGKILL);
  victim.wait();
  return true;
}

}  // namespace fade::test
