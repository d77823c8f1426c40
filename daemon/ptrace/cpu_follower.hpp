// Keeps the tracing thread on the CPU of the threads it serves: a stop costs 8 us on the same CPU and 30 to 100 us
// across CPUs of a virtual machine. Reads /proc only if the CPUs seem to differ, and rarely otherwise, so it is cheap
// and works with every libc. Changes only its own thread.
//
// If another CPU is idle, the kernel wakes a tracee there, because the tracee's own CPU runs the tracer. The two would
// then swap for ever. The kernel ignores a tracer of policy SCHED_IDLE, so the tracee stays. But such a tracer starves
// if other programs work. Therefore it returns to its former policy as soon as it has to wait, and tries again later.
#pragma once
#include <sys/types.h>

#include <cstdint>

#include "base/fd.hpp"
#include "base/thread_cpus.hpp"

namespace fade {

class CpuFollower {
 public:
  CpuFollower() = default;
  ~CpuFollower() { rest(); }  // on the thread that follows
  CpuFollower(const CpuFollower&) = delete;
  CpuFollower& operator=(const CpuFollower&) = delete;

  // Call at every stop of a call; `tid` is the stopped thread, `now` is in ns of any clock. Returns true if cpu() has
  // changed.
  bool saw(pid_t tid, std::int64_t now) {
    ++window_.stops;
    return now - window_.begin >= kWindow && end_window(tid, now);
  }
  int cpu() const { return cpu_; }  // the CPU of the tracer; -1: any

  // Restores the thread's policy and CPUs. Needed before work that keeps several threads waiting.
  void rest();

 private:
  static constexpr std::int64_t kWindow = 250'000;  // ns
  static constexpr std::int64_t kShortestPause = 5'000'000;
  bool end_window(pid_t tid, std::int64_t now);
  bool follow(pid_t tid);
  void yield(std::int64_t now);
  void stop_yielding(std::int64_t now);
  std::int64_t waited();

  // The time between two decisions.
  struct Window {
    std::int64_t begin = 0;
    std::int64_t waited_ns = 0;  // waiting time for a CPU before the window
    std::uint32_t stops = 0;     // in this window
  };
  // Looks at the CPU of the tracee.
  struct Looks {
    std::uint32_t still = 0, after = 1;  // windows since the last look, and how many before the next one
    bool has_looked = false;
    std::uint32_t moves = 0;  // one bit for each of the last looks: 1 if the tracee had moved
  };
  // The policy SCHED_IDLE of the tracer.
  struct Yielding {
    bool is_on = false;
    std::int64_t starved_ns = 0;  // total of windows that were only waiting, up to now
    std::int64_t since = 0, not_before = 0, pause_ns = kShortestPause;
  };

  Fd schedstat_;  // of this thread
  ThreadCpus cpus_;
  int cpu_ = -1;
  Window window_;
  Looks looks_;
  Yielding yielding_;
};

}  // namespace fade
