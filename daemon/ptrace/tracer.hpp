// The sole waiter. Everything that is waited for goes through here, from one thread.
//
// A ptrace-stop is looked at but not reaped (WNOWAIT): it vanishes when the thread is resumed. So a tracer that is
// killed between seeing a stop and mending the thread leaves the stop as the kernel made it, and no system call is
// spent on reaping. Ends are reaped.
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

  // Makes a running process' thread a tracee, without stopping it; children follow. Asks for kill on our end if wished.
  static Result<void> seize(pid_t tid, bool kill_on_exit);

  Stop next() const;            // any tracee; blocks until there is one or a signal came
  Stop next_if_stopped(pid_t tid) const;  // the same of one tracee; None: it has not stopped, or is gone. Does not block
  Stop next_of(pid_t tid) const;  // one tracee only, ignoring interruptions
  // The same, but nullopt where the tracee has not stopped in time (to a tick): it may sleep where nothing
  // interrupts it.
  std::optional<Stop> next_of(pid_t tid, std::chrono::nanoseconds patience) const;
  // next_of() saw its end, and nobody else is to hear of it.
  void reap_end(pid_t tid) const;
  // The stop was seen and the thread is to stay in it: it is not reported again.
  void reap_stop(pid_t tid) const;

 private:
  Tracer() = default;
  void* timer_ = nullptr;  // timer_t
  bool armed_ = false;
};

}  // namespace fade
