// The CPUs that a thread of fade may run on (sched_setaffinity(2)), and the CPUs it was allowed before. Not
// thread-safe; the calling thread may differ from the thread concerned.
#pragma once
#include <sched.h>

#include <optional>

#include "base/pid.hpp"

namespace fade {

class ThreadCpus {
 public:
  explicit ThreadCpus(Tid tid = 0) : tid_(tid) {}  // 0: the calling thread
  bool only(int cpu);
  // Allows the former CPUs except `cpu`. Returns false, without a change, if there is no other CPU.
  bool all_but(int cpu);
  void restore();

 private:
  bool know_before();
  bool run_on(const cpu_set_t& cpus) const { return ::sched_setaffinity(tid_.value(), sizeof cpus, &cpus) == 0; }
  Tid tid_;
  std::optional<cpu_set_t> before_;
};

}  // namespace fade
