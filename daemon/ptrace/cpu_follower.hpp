// Keeps the tracing thread on the CPU of the threads it serves: a stop costs 8 us on the same CPU and 30 to 100 us
// across CPUs of a virtual machine. Asks /proc, when it looks as if they were apart and now and then, so that it costs
// little and works on every libc. Touches nothing but the thread it runs on.
//
// Where another CPU idles, the kernel wakes a tracee there, because its own runs the tracer, and the two would swap for
// ever. A tracer of policy SCHED_IDLE counts as nothing, so the tracee stays. But such a tracer starves where others
// work: it goes back to what it was as soon as it has to wait, and tries again later.
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

  // At every stop of a call; `tid` is the stopped thread, `now` in ns of any clock. True: cpu() is another one than before.
  bool saw(pid_t tid, std::int64_t now) {
    ++stops_;
    return now - window_ >= kWindow && end_window(tid, now);
  }
  int cpu() const { return cpu_; }  // that we keep to; -1: any

  // The thread's policy and CPUs are what they were: what is done next holds several threads up.
  void rest();

 private:
  static constexpr std::int64_t kWindow = 250'000;        // ns
  static constexpr std::int64_t kShortestPause = 5'000'000;
  bool end_window(pid_t tid, std::int64_t now);
  bool follow(pid_t tid);
  void yield(std::int64_t now);
  void stop_yielding(std::int64_t now);
  std::int64_t waited();

  Fd schedstat_;                // of this thread
  std::int64_t waited_ns_ = 0;  // for a CPU, until the window began
  std::int64_t window_ = 0;     // when it began
  std::uint32_t stops_ = 0;     // in this window
  std::uint32_t still_ = 0, looks_after_ = 1;  // windows since the last look, and how many before the next one
  bool has_looked_ = false;
  ThreadCpus cpus_;
  int cpu_ = -1;
  std::uint32_t moves_ = 0;        // one bit for each of the last looks: the tracee had moved
  bool yields_ = false;            // we are SCHED_IDLE
  std::int64_t starved_ns_ = 0;    // in windows of nothing but waiting, up to now
  std::int64_t yields_since_ = 0, not_before_ = 0, pause_ns_ = kShortestPause;
};

}  // namespace fade
