// SIGTRAP in a process with a net: the kernel's action is the net's, and the net keeps the action that the program has
// set. A view of an address space. Tracing thread only.
#pragma once
#include <signal.h>

#include "base/pid.hpp"
#include "probe/our_memory.hpp"
#include "probe/site_table.hpp"

namespace fade {

class TrapSignal {
 public:
  TrapSignal(OurMemory& ours, const SiteTable& sites) : ours_(ours), sites_(sites) {}

  // The action that the program has set, in libc's form: the restorer does not count.
  KernelSigaction program_action() const;
  // The last known action: for use after an exec.
  KernelSigaction last_program_action() const;
  bool has_program_action() const { return program_action().handler != 0; }  // SIG_DFL
  bool set_program_action(KernelSigaction action, Tid stopped);
  // The address of libc's rt_sigreturn. Until it is set, a program's handler of SIGTRAP returns into the net, which
  // then must stay.
  bool set_restorer(RemoteAddr sigreturn, Tid stopped);

  // Makes the kernel's action the net's again.
  Result<void> retake(Tid stopped);
  // Gives the program's action back to the kernel; the net stays. The text must have been put back, and no thread may
  // have an unhandled trap of fade. `outside`: gadgets outside the net, with a sigreturn that may stay the restorer of
  // the program's action.
  Result<void> give_back(Tid stopped, RemoteGadgets outside);
  // Makes the stopped thread send a signal to its process, or to its thread `tid` if that is not 0. `info` names the
  // sender: only a process itself may name another sender. Refused if the process has other ids in its PID namespace.
  Result<void> send(Tid stopped, Tid tid, const siginfo_t& info);

 private:
  OurMemory& ours_;
  const SiteTable& sites_;
};

}  // namespace fade
