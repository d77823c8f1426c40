// What a wait reported, as a type (ptrace(2), "Stopped states").
#pragma once
#include <sys/types.h>

namespace fade {

struct Stop {
  enum class Kind {
    None,       // nothing: the wait was interrupted by a signal or the tick; look at your flags
    Gone,       // no tracee and no child is left
    Signal,     // signal-delivery-stop: resume with `signal` to deliver it, with 0 to swallow it
    Group,      // group-stop: listen(), the thread must not run
    Trap,       // PTRACE_EVENT_STOP that is no group-stop (first stop of a new tracee, INTERRUPT, end of a group-stop): resume
    Fork,       // `message` is the new pid: it is, or will be, in its own Trap stop
    Vfork,      // the same; shares the address space until it execs or exits
    Clone,      // the same, by clone(2): a thread or a process
    Exec,       // `message` is the former tid; the other threads are gone
    VforkDone,  // resume
    Syscall,    // entry or exit of a system call: resume
    Exit,       // it will end, with status `message` as wait(2) tells it; registers and memory are still there: resume
    Exited,     // ended with exit status `status`
    Killed,     // ended by signal `status`
  };
  Kind kind = Kind::None;
  pid_t tid = 0;
  int signal = 0;
  int status = 0;
  unsigned long message = 0;
};

// Whether the thread has left the code that it ran: it ends, has ended, or executes another program. Its registers, its memory and
// its signal mask must not be written any more. Such a stop belongs to the handler of Tracer::next().
constexpr bool has_left(Stop::Kind kind) {
  switch (kind) {
    case Stop::Kind::Gone:
    case Stop::Kind::Exec:
    case Stop::Kind::Exit:
    case Stop::Kind::Exited:
    case Stop::Kind::Killed: return true;
    case Stop::Kind::None:
    case Stop::Kind::Signal:
    case Stop::Kind::Group:
    case Stop::Kind::Trap:
    case Stop::Kind::Fork:
    case Stop::Kind::Vfork:
    case Stop::Kind::Clone:
    case Stop::Kind::VforkDone:
    case Stop::Kind::Syscall: return false;
  }
  return true;
}

}  // namespace fade
