// Which CPUs a thread of ours may run on (sched_setaffinity(2)), and those it might before. Not thread-safe; the thread
// that asks need not be the one that is meant.
#pragma once
#include <sched.h>
#include <sys/types.h>

#include <optional>

namespace fade {

class ThreadCpus {
 public:
  explicit ThreadCpus(pid_t tid = 0) : tid_(tid) {}  // 0: whoever calls
  bool only(int cpu);
  // Those of before but this one. False, and nothing changes, where there is no other.
  bool all_but(int cpu);
  void restore();

 private:
  bool know_before();
  bool run_on(const cpu_set_t& cpus) const { return ::sched_setaffinity(tid_, sizeof cpus, &cpus) == 0; }
  pid_t tid_;
  std::optional<cpu_set_t> before_;
};

}  // namespace fade
