// How the threads of running processes become tracees. PTRACE_SEIZE waits for a lock that an exec holds until all other
// threads of its process have ended (cred_guard_mutex; de_thread() in fs/exec.c). Those that are tracees end only when
// their last stop is handled. So stops are handled between two attempts.
//
// A thread that is no tracee yet may execute a program, too. The tracees of its process are then gone without a word,
// the new program has none, and the memory that was opened is of the old one.
//
// Owns the conversion of attached processes: their functions become taps, at once or by a duty that is done again and
// again. Tracing thread only.
#pragma once
#include "base/pid.hpp"
#include "base/result.hpp"
#include "ptrace/tracer.hpp"
#include "session/arrival.hpp"
#include "session/call_watch.hpp"
#include "session/children.hpp"
#include "session/conversion.hpp"
#include "session/population.hpp"
#include "session/programs.hpp"
#include "session/rendezvous.hpp"
#include "session/sigtrap/untraced_arrival.hpp"

namespace fade {

class Seizing {
 public:
  struct Parts {
    const Tracer& tracer;
    EventSink& sink;
    const SessionClock& clock;
    Roster& roster;
    Rendezvous& rendezvous;
    Population& population;
    CallWatch& calls;
    Children& children;
    Programs& programs;
  };
  explicit Seizing(const Parts& parts);
  Seizing(const Seizing&) = delete;
  Seizing& operator=(const Seizing&) = delete;

  // As Session::adopt(), seize() and watch().
  void adopt(Pid pid);
  Result<void> seize(Pid pid);
  Result<void> watch(Pid pid);
  // About ten times a second: taps functions that watch() could not tap yet.
  void convert_more();

  Arrival& arrival() { return arrival_; }
  const Arrival& arrival() const { return arrival_; }
  UntracedArrival& untraced() { return untraced_; }

 private:
  Result<void> seize_thread(Tid tid);
  Result<void> seize_threads(Pid pid);
  Result<bool> seize_some(Pid pid);
  void join_host(Inferior& inferior);
  void watch_early_children();

  const Parts p_;
  UntracedArrival untraced_;
  Arrival arrival_;
  Conversion conversion_;
};

}  // namespace fade
