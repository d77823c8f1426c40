// A program that is about to start: forked, and waiting for release() before exec. Owns the two pipes to the child. The
// child inherits nothing of fade: descriptors are close-on-exec, signal mask and dispositions are as fade got them.
// Therefore fork before you install handlers or threads.
#pragma once
#include <string>
#include <vector>

#include "base/fd.hpp"
#include "base/pid.hpp"
#include "base/result.hpp"

namespace fade {

class LaunchedProgram {
 public:
  struct Command {
    std::vector<std::string> argv;         // argv[0] is looked up in PATH as execvp(3) does
    std::vector<std::string> environment;  // VAR=VALUE, the complete environment
    std::string directory;                 // empty: the current one
  };
  static Result<LaunchedProgram> fork_waiting(const Command& command);

  Pid pid() const { return pid_; }
  void release();  // lets the child exec; without it the child exits when this object is destroyed
  // Call after the child ended without an exec: the errno of chdir or exec, 0 if unknown.
  int exec_errno() const;

 private:
  LaunchedProgram(Pid pid, Fd go, Fd error) : pid_(pid), go_(std::move(go)), error_(std::move(error)) {}

  Pid pid_;
  Fd go_;     // one byte lets the child run
  Fd error_;  // closed by a successful exec
};

}  // namespace fade
