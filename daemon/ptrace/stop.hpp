// The report of a wait, as a type (ptrace(2), "Stopped states").
#pragma once
#include "base/pid.hpp"

namespace fade {

struct Stop {
  enum class Kind {
    None,       // no report: a signal or the tick interrupted the wait; check your flags
    Gone,       // no tracee and no child is left
    Signal,     // signal-delivery-stop: resume with `signal` to deliver it, with 0 to swallow it
    Group,      // group-stop: call listen(), the thread must not run
    Trap,       // other PTRACE_EVENT_STOP (first stop of a new tracee, INTERRUPT, end of a group-stop): resume
    Fork,       // `message` is the new pid: it is, or will be, in its own Trap stop
    Vfork,      // as Fork; shares the address space until it execs or exits
    Clone,      // as Fork, by clone(2): a thread or a process
    Exec,       // `message` is the former tid; the other threads are gone
    VforkDone,  // resume
    Syscall,    // entry or exit of a system call: resume
    Exit,       // it will end with status `message`, as in wait(2); registers and memory still exist: resume
    Exited,     // ended with exit status `status`
    Killed,     // ended by signal `status`
  };
  Kind kind = Kind::None;
  Tid tid = 0;
  int signal = 0;
  int status = 0;
  unsigned long message = 0;

  // Of Fork, Vfork and Clone: the new thread. It leads a process of its own, unless it was made as a thread.
  Tid child() const { return Tid::of(static_cast<pid_t>(message)); }
  Tid former() const { return Tid::of(static_cast<pid_t>(message)); }  // of Exec
};

// True if the thread has left its code: it ends, has ended, or executes another program. Its registers, its memory and
// its signal mask must not be written from then on. The handler of Tracer::next() gets such a stop.
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
