// Keeps the tracing thread on the CPU of the threads it serves: a stop costs 8 us on the same CPU and 30 to 100 us
// across CPUs of a virtual machine. Asks /proc now and then, so that it costs little and works on every libc. Touches
// nothing but the thread it runs on.
//
// Where another CPU idles, the kernel wakes a tracee there, because its own runs the tracer, and the two would swap for
// ever. A tracer of policy SCHED_IDLE counts as nothing, so the tracee stays. But such a tracer starves where others
// work: it goes back to what it was as soon as it has to wait, and tries again later.
#pragma once
#include <sched.h>
#include <sys/types.h>

#include <cstdint>

#include "base/clock.hpp"

namespace fade {

class CpuFollower {
 public:
  // At every stop of a call; `tid` is the stopped thread.
  void saw(pid_t tid) {
    if (++stops_ >= next_look_) look(tid);
    if (yields_) check_waiting();
  }

  // The thread's policy and CPUs are what they were: what is done next holds several threads up.
  void rest();

 private:
  // Stops from one look to the next: more and more while the tracee stays where it is.
  static constexpr std::uint32_t kOften = 32, kSeldom = 256;
  static constexpr std::int64_t kWindow = 5'000'000;  // longer than what comes between in passing
  void look(pid_t tid);
  bool follow(pid_t tid);
  void consider_yielding();
  void check_waiting();

  std::uint32_t stops_ = 0, next_look_ = 1, pace_ = kOften;
  int cpu_ = -1;
  cpu_set_t before_{};  // once cpu_ is known
  std::uint32_t recent_moves_ = 0;  // one bit for each of the last looks: the tracee had moved
  bool yields_ = false;             // we are SCHED_IDLE
  std::int64_t window_ = 0, waited_ns_ = 0;  // when it began, and what we had waited by then
  static constexpr std::int64_t kPause = 1'000'000'000;
  std::int64_t yields_since_ = 0, not_before_ = 0, pause_ns_ = kPause / 2;
};

}  // namespace fade
