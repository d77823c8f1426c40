// The probed calls that threads were in when fade came: their entries were never seen. Found by unwinding; named by the
// call instructions before the return addresses.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "session/function_table.hpp"
#include "session/program.hpp"

namespace fade {

class CallsInFlight {
 public:
  CallsInFlight(Program& program, FunctionTable& functions) : program_(program), functions_(functions) {}

  // Whether a word on the stack from `sp` on, 64 KiB at most, points into a watched library: without one the thread is in
  // no call. Cheap; the thread need not be stopped.
  bool may_be_in_one(RemoteAddr sp) const;
  // `frames` as NativeFrame says, innermost first. Names, outermost first; "a call of LIBRARY" where no name can be told.
  std::vector<std::string> of(std::span<const RemoteAddr> frames) const;

 private:
  const Module* watched_at(RemoteAddr address) const;
  std::string name(RemoteAddr return_address, RemoteAddr inside, const Module& module) const;
  std::string symbol_around(RemoteAddr inside, const Module& module) const;
  RemoteAddr called_before(RemoteAddr return_address) const;

  Program& program_;
  FunctionTable& functions_;
};

// Where a sleeping thread's stack pointer is (proc_pid_syscall(5)); null: it runs, or cannot be told.
RemoteAddr read_stack_pointer(pid_t tid);

}  // namespace fade
