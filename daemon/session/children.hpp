// The children and threads that tracees make: from the event of their maker to the moment when they run. Tracing thread
// only.
#pragma once
#include "base/pid.hpp"
#include "ptrace/stop.hpp"
#include "ptrace/tracer.hpp"
#include "session/cached_copies.hpp"
#include "session/call_watch.hpp"
#include "session/population.hpp"

namespace fade {

class Children {
 public:
  struct Parts {
    const Tracer& tracer;
    Roster& roster;
    Population& population;
    CallWatch& calls;
    CachedCopies& cached;
    bool follows;  // children of the first process are recorded, too
  };
  explicit Children(const Parts& parts) : p_(parts) {}

  // The maker stands in the event of a fork, vfork or clone. Its child is known from now on, and runs on if it waited
  // for this. The maker stays where it is.
  void learn(const Stop& stop);
  // A tracee in its first stop, or in one that ends a group-stop, runs on.
  void start(Tid tid);
  // A tracee in its first stop that no maker has reported yet. It waits for that (UnclaimedChildren).
  void wait_for_maker(Tid tid);
  // A thread that was found to be a tracee already: it may stand in its first stop, and then runs on.
  void claim(Inferior& inferior, Tid tid);
  // The process runs on unwatched and untraced, without fade's breakpoints. `tid`: its stopped thread.
  void leave_alone(Inferior& inferior, Tid tid);

 private:
  void add_process(const Thread& parent, Pid child, std::uint64_t flags);
  void mend_copy(Inferior& inferior, Thread& thread);
  void prepare_anew(Inferior& inferior, Thread& thread);

  const Parts p_;
};

}  // namespace fade
