// The sole waiter. Everything that is waited for goes through here, from one thread.
//
// A ptrace-stop is looked at but not reaped (WNOWAIT): it vanishes when the thread is resumed. A tracer that is killed between seeing a
// stop and mending the thread leaves the stop as the kernel made it, and no system call is spent on reaping.
//
// next() and its like take a stop: ends are reaped, and so is an exec, to which the kernel answers no request before. next_of() only
// looks: an end or an exec stays for next(), and until then the kernel refuses every request to the thread of an exec.
#pragma once
#include <sys/types.h>

#include <chrono>
#include <optional>

#include "base/result.hpp"
#include "ptrace/stop.hpp"

namespace fade {

class Tracer {
 public:
  // The calling thread becomes the tracing thread. While a Tracer lives, a tick every `tick` interrupts next().
  static Result<Tracer> create(std::chrono::milliseconds tick = std::chrono::milliseconds(50));
  Tracer(Tracer&&) noexcept;
  Tracer& operator=(Tracer&&) = delete;
  ~Tracer();

  // Makes a thread of a running process a tracee, without stopping it; its children follow. `kill_on_exit`: it is killed when the tracer
  // ends. EPERM, ESRCH: ptrace(2). EINTR: the kernel makes the caller wait for an exec of that process (cred_guard_mutex), and the tick
  // has ended the wait. That exec may wait for a tracee to be resumed: take stops, then try again. A thread that is a tracee already
  // is not to be asked for: the answer would be EPERM, after the same wait.
  static Result<void> seize(pid_t tid, bool kill_on_exit);

  Stop next() const;                      // of any tracee; blocks until there is one, or a signal came (None)
  Stop next_if_any() const;               // the same, but None where there is none now
  Stop next_if_stopped(pid_t tid) const;  // of one tracee; None where it has not stopped, or is gone. Does not block
  // Looks at the next stop of one tracee, whatever interrupts the wait. Gone: it has ended and is not reported yet, as a leader that
  // ended before its threads.
  Stop next_of(pid_t tid) const;
  // The same, but nullopt where the tracee has not stopped in time (to a tick): it may sleep where nothing interrupts it.
  std::optional<Stop> next_of(pid_t tid, std::chrono::nanoseconds patience) const;
  // Takes the end of a thread that next_of() saw: next() does not report it.
  void reap_end(pid_t tid) const;
  // Takes a stop that was seen. The thread stays in it, and next() does not report it again.
  void reap_stop(pid_t tid) const;

 private:
  Tracer() = default;
  void* timer_ = nullptr;  // timer_t
  bool armed_ = false;
};

}  // namespace fade
