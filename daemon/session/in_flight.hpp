// The probed calls that threads were in when fade attached: their entries were never seen. Found by unwinding; named by
// the call instructions before the return addresses.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "base/pid.hpp"
#include "session/function_table.hpp"
#include "session/program.hpp"

namespace fade {

class CallsInFlight {
 public:
  CallsInFlight(Program& program, FunctionTable& functions) : program_(program), functions_(functions) {}

  // Tests if a word on the stack from `sp` on, 64 KiB at most, points into a watched library: without one the thread is
  // in no call. Cheap; the thread need not be stopped.
  bool may_be_in_one(RemoteAddr sp) const;
  // `frames` as in NativeFrame, innermost first. Returns names, outermost first; "a call of LIBRARY" if the name is
  // unknown.
  std::vector<std::string> of(std::span<const RemoteAddr> frames) const;

 private:
  const Module* watched_at(RemoteAddr address) const;
  std::string name(RemoteAddr return_address, RemoteAddr inside, const Module& module) const;
  std::string symbol_around(RemoteAddr inside, const Module& module) const;
  RemoteAddr called_before(RemoteAddr return_address) const;

  Program& program_;
  FunctionTable& functions_;
};

// Returns a sleeping thread's stack pointer (proc_pid_syscall(5)); null: it runs, or the stack pointer is unknown.
RemoteAddr read_stack_pointer(Tid tid);

}  // namespace fade
