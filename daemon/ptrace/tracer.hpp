// The sole waiter. All waits go through here, from one thread.
//
// A ptrace-stop is read but not reaped (WNOWAIT): it vanishes when the thread is resumed. If the tracer is killed
// before it repairs the thread, the stop remains as the kernel made it. Reaping also costs no system call then.
//
// next() and its variants take a stop: they reap ends, and also an exec, because the kernel answers no request before
// that. next_of() only looks: an end or an exec stays for next(), and until then the kernel refuses every request to
// the thread of an exec.
#pragma once
#include <chrono>
#include <optional>

#include "base/pid.hpp"
#include "base/result.hpp"
#include "ptrace/stop.hpp"
#include "ptrace/system_caller.hpp"

namespace fade {

class Tracer final : public SystemCaller {
 public:
  // The calling thread becomes the tracing thread. While a Tracer lives, a tick every `tick` interrupts next().
  static Result<Tracer> create(std::chrono::milliseconds tick = std::chrono::milliseconds(50));
  Tracer(Tracer&&) noexcept;
  Tracer& operator=(Tracer&&) = delete;
  ~Tracer() override;

  // Makes a thread of a running process a tracee, without stopping it; its children follow. `kill_on_exit`: the thread
  // is killed when the tracer ends. EPERM, ESRCH: ptrace(2). EINTR: the kernel makes the caller wait for an exec of
  // that process (cred_guard_mutex), and the tick has ended the wait. That exec may wait until a tracee is resumed:
  // take stops, then try again. Do not call it for a tracee: the answer would be EPERM, after the same wait.
  static Result<void> seize(Tid tid, bool kill_on_exit);

  Stop next() const;                    // of any tracee; blocks until there is one or a signal arrives (None)
  Stop next_if_any() const;             // as next(), but None if no stop waits
  Stop next_if_stopped(Tid tid) const;  // of one tracee; None if it has not stopped, or is gone. Does not block
  // Looks at the next stop of one tracee; interruptions do not end the wait. Gone: the tracee has ended without a
  // report yet, as a leader that ended before its threads.
  Stop next_of(Tid tid) const;
  // The same, but nullopt if the tracee has not stopped in time (to a tick): it may sleep uninterruptibly.
  std::optional<Stop> next_of(Tid tid, std::chrono::nanoseconds patience) const;
  // Takes the end of a thread that next_of() returned: next() then does not report it.
  void reap_end(Tid tid) const;
  // Takes a stop that next_of() returned. The thread stays in it, and next() does not report it again.
  static void reap_stop(Tid tid);

  std::optional<long> call(const ProcessMemory& memory, Tid stopped, RemoteGadgets gadgets, long number,
                           std::array<std::uint64_t, 6> arguments) const override;

 private:
  Tracer() = default;
  void* timer_ = nullptr;  // timer_t
  bool armed_ = false;
};

}  // namespace fade
