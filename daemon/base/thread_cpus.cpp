#include "base/thread_cpus.hpp"

namespace fade {
namespace {

bool is_a_cpu(int cpu) { return cpu >= 0 && cpu < CPU_SETSIZE; }

}  // namespace

bool ThreadCpus::know_before() {
  if (before_) return true;
  cpu_set_t now;
  if (::sched_getaffinity(tid_.value(), sizeof now, &now) != 0) return false;
  before_ = now;
  return true;
}

bool ThreadCpus::only(int cpu) {
  if (!is_a_cpu(cpu) || !know_before()) return false;
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<unsigned>(cpu), &set);
  return run_on(set);
}

bool ThreadCpus::all_but(int cpu) {
  if (!is_a_cpu(cpu) || !know_before()) return false;
  cpu_set_t set = *before_;
  CPU_CLR(static_cast<unsigned>(cpu), &set);
  return CPU_COUNT(&set) > 0 && run_on(set);
}

void ThreadCpus::restore() {
  if (before_) run_on(*before_);
  before_.reset();
}

}  // namespace fade
