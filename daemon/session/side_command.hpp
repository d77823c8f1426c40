// Starts a command beside fade, as fade's user: no child of the program and none that fade waits for. It has no input.
// It writes where fade's messages go, so the program's own output stays as it is.
#pragma once
#include <sched.h>

#include <string>
#include <vector>

#include "base/pid.hpp"
#include "base/result.hpp"

namespace fade {

// The CPUs and the policy of a thread of fade. Its tracing thread changes both, and commands are to have the first
// ones.
struct Scheduling {
  cpu_set_t cpus{};
  bool has_cpus = false;
  int policy = SCHED_OTHER;

  static Scheduling now();      // of the calling thread
  void give_to_caller() const;  // async-signal-safe
};

// `more`: variables besides fade's own, NAME=VALUE. Returns when the command runs, or could not be run.
Result<Pid> run_beside(const std::vector<std::string>& command, const std::vector<std::string>& more,
                       const Scheduling& scheduling);

}  // namespace fade
