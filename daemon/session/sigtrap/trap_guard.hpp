// SIGTRAP is the one signal that fade's breakpoints need: if the kernel finds it blocked or without handler at a
// breakpoint, it takes the program's handler away. So for the kernel it is always unblocked and handled by the net. The
// program's settings and questions about it through libc are answered here, as if they were true. System calls that a
// program makes without libc are not seen. Tracing thread only.
#pragma once
#include <signal.h>

#include <cstdint>
#include <optional>

#include "probe/safety_net.hpp"
#include "ptrace/registers.hpp"
#include "session/inferior.hpp"

namespace fade {

// The part that survives an exec.
struct TrapBelief {
  bool blocked = false, ignored = false;
};

class TrapGuard {
 public:
  // Entry of sigaction(3) and of pthread_sigmask(3). If it is about SIGTRAP, the thread has returned from it
  // afterwards.
  void on_sigaction(Thread& thread, const Registers& registers) const;
  void on_sigmask(Thread& thread, const Registers& registers) const;

  // A SIGTRAP of another sender than fade. True: the program believes it blocked, so the signal waits for the
  // unblocking. Otherwise it is to be delivered, and there is a handler for it.
  bool holds_back(Thread& thread) const;

  // The kernel has taken away the net's action, and the program's with it.
  static bool is_action_lost(const Inferior& inferior);
  // Through a stopped thread: the kernel's action is the net's again.
  static void retake(const Thread& thread);
  // About ten times a second: remembers if the kernel has taken away the net's action. A breakpoint that meets SIGTRAP
  // blocked costs the process its action.
  static void look_after(Inferior& inferior);
  // The thread is at a breakpoint and about to go on. Retakes the action if look_after() found it lost, and if the
  // first breakpoint of a thread that was there before fade may have cost it.
  static void mend_action(Thread& thread);

  // A stopped thread of a process that fade attaches to, and that blocks SIGTRAP: unblocks it for the kernel.
  static void unblock(Thread& thread);

  // Returns the thread that would by now have got the signal that holds_back() kept for `thread`. This is a thread that
  // sleeps for it (sigtimedwait(2)) or, if it was sent to the process, one that does not block it. nullptr: no thread.
  static Thread* taker(Thread& thread);
  static bool is_for_the_process(const siginfo_t& info);  // and not for one of its threads
  // For a stopped thread: SIGTRAP is blocked again for the kernel, too, if it is meant to be. A kept signal is not
  // sent.
  void block_again(Thread& thread) const;
  // Another process may speak for the sender by SI_QUEUE alone; sender and value stay.
  static void send_to(const Thread& thread, const siginfo_t& info);
  static void send_to_process(const Inferior& inferior, const siginfo_t& info);
  // The thread is about to be detached: both.
  void let_go(Thread& thread) const;

  // The action that the process believes to be its own.
  static KernelSigaction action(const Inferior& inferior);
  // The belief of a process that has just executed another program.
  static TrapBelief belief(const Inferior& inferior, const Thread* thread);
  // A new program is at its first instruction; `inherited` is the belief of its predecessor.
  void begin(Thread& thread, TrapBelief inherited) const;

 private:
  bool blocks(Thread& thread, std::optional<std::uint64_t> mask) const;
  static bool is_lost_at_return(const Thread& thread, std::uint64_t given);
  void return_from(const Thread& thread, const Registers& registers, std::uint64_t result) const;
};

}  // namespace fade
