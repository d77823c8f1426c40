// The process that does one session's tracing (fade-attach --control 3), so that a bad target harms no other session.
// The worker also holds the daemon's end of its control socket, as descriptor 4. So it sees no end of file when the
// daemon dies, and the next daemon takes that end back (pidfd_getfd(2)).
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/fd.hpp"
#include "base/pid.hpp"
#include "base/result.hpp"

namespace fade::service {

struct WorkerCommand {
  std::string program;                 // absolute path
  std::vector<std::string> arguments;  // without the name and --control
  uid_t uid = 0;                       // the worker's user if the daemon is root: it may then no more than this user
  gid_t gid = 0;
  bool keep_ptrace = false;  // with CAP_SYS_PTRACE all the same, as Yama demands it
};

struct Worker {
  Pid pid = 0;
  std::uint64_t start_ticks = 0;
  Fd pidfd;
  Fd control;  // nonblocking; may be empty for a worker that was found again
};

Result<Worker> start_worker(const WorkerCommand& command);

// A worker of a daemon that died or gave way to a newer one. Fails with ESRCH if it has ended.
Result<Worker> find_worker(Pid pid, std::uint64_t start_ticks);

// The end of the worker, if it was our child, in words.
std::string how_it_ended(const Worker& worker);
void signal_worker(const Worker& worker, int signal);

}  // namespace fade::service
