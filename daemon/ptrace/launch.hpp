// A program about to be started: forked, waiting for leave to exec. Owns the two pipes to it. Nothing of ours is
// inherited: descriptors are close-on-exec, signal mask and dispositions are as we got them, so fork before you
// install handlers or threads.
#pragma once
#include <sys/types.h>

#include <string>
#include <vector>

#include "base/fd.hpp"
#include "base/result.hpp"

namespace fade {

class LaunchedProgram {
 public:
  struct Command {
    std::vector<std::string> argv;         // argv[0] is looked up in PATH as execvp(3) does
    std::vector<std::string> environment;  // VAR=VALUE, the whole of it
    std::string directory;                 // empty: ours
  };
  static Result<LaunchedProgram> fork_waiting(const Command& command);

  pid_t pid() const { return pid_; }
  void release();  // lets it exec; without this it exits by itself when this object goes
  // After the child ended without having executed anything: the errno of chdir or exec, 0 if there is none to tell.
  int exec_errno() const;

 private:
  LaunchedProgram(pid_t pid, Fd go, Fd error) : pid_(pid), go_(std::move(go)), error_(std::move(error)) {}

  pid_t pid_;
  Fd go_;     // one byte lets it run
  Fd error_;  // closed by a successful exec
};

}  // namespace fade
