// Keeps the tracing thread on the CPU of the threads it serves: a stop costs 8 us on the same CPU and 30 to 100 us
// across CPUs of a virtual machine. Reads /proc only if the CPUs seem to differ, and rarely otherwise, so it is cheap
// and works with every libc. Changes only its own thread.
//
// If another CPU is idle, the kernel wakes a tracee there, because the tracee's own CPU runs the tracer. The two would
// then swap for ever. The kernel ignores a tracer of policy SCHED_IDLE, so the tracee stays. But such a tracer starves
// if other programs work. Therefore it returns to its former policy as soon as a stop has to wait, and tries again
// later.
#pragma once
#include <cstdint>
#include <utility>

#include "base/fd.hpp"
#include "base/pid.hpp"
#include "base/thread_cpus.hpp"
#include "proc/proc_files.hpp"

namespace fade {

class CpuFollower {
 public:
  explicit CpuFollower(ProcFiles proc = ProcFiles()) : proc_(std::move(proc)) {}
  ~CpuFollower() { rest(); }  // on the thread that follows
  CpuFollower(const CpuFollower&) = delete;
  CpuFollower& operator=(const CpuFollower&) = delete;

  // Call at every stop of a call; `tid` is the stopped thread, `now` is in ns of any clock. Only if `has_time`, it may
  // take some microseconds. Returns true if cpu() has changed.
  bool saw(Tid tid, std::int64_t now, bool has_time = true) {
    ++window_.stops;
    last_stop_ = now;
    return has_time && now - window_.begin >= kWindow && end_window(tid, now);
  }
  int cpu() const { return cpu_; }  // the CPU of the tracer; -1: any
  // An estimate, from samples: the number of stops of a tracee on another CPU since the last call of this function.
  std::uint32_t take_crossed() { return std::exchange(crossed_, 0); }

  // Lets go of the CPU if no call has stopped for a while: other work of the tracer would take it from the program.
  // Returns true if cpu() has changed.
  bool rest_if_quiet(std::int64_t now);
  // Restores the thread's policy and CPUs. Needed before work that keeps several threads waiting.
  void rest();

 private:
  static constexpr std::int64_t kWindow = 250'000;  // ns
  static constexpr std::int64_t kQuiet = 20'000'000;
  static constexpr std::int64_t kShortestPause = 5'000'000;
  bool end_window(Tid tid, std::int64_t now);
  bool follow(Tid tid);
  void yield(std::int64_t now);
  void stop_yielding(std::int64_t now);
  std::int64_t waited();
  bool was_busy(Tid tid, std::int64_t now);

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
    std::uint32_t stops = 0;  // since the last look
  };
  // A look at the CPU time of a tracee.
  struct Busy {
    Tid tid = 0;
    std::int64_t ran_ns = 0, at = 0;
  };
  // The policy SCHED_IDLE of the tracer.
  struct Yielding {
    bool is_on = false;
    std::int64_t starved_ns = 0;  // total of windows that were only waiting, up to now
    std::int64_t since = 0, not_before = 0, pause_ns = kShortestPause;
  };

  ProcFiles proc_;
  Fd schedstat_;  // of this thread
  ThreadCpus cpus_;
  int cpu_ = -1;
  std::int64_t last_stop_ = 0;
  Window window_;
  Looks looks_;
  std::uint32_t crossed_ = 0;
  Busy busy_;
  Yielding yielding_;
};

}  // namespace fade
