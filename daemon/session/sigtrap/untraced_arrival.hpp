// Makes tracees of the children that no event reported (UntracedChildren): those made with CLONE_UNTRACED, and those
// that ran in a program's memory before fade attached to it. Stops of other tracees are handled meanwhile. Tracing
// thread only.
#pragma once
#include <functional>

#include "base/pid.hpp"
#include "base/result.hpp"
#include "ptrace/tracer.hpp"
#include "session/engines.hpp"
#include "session/population.hpp"

namespace fade {

class UntracedArrival {
 public:
  struct Parts {
    const Tracer& tracer;
    Roster& roster;
    Population& population;
    const Engines& engines;
    std::function<Result<void>(Pid)> seize_threads;  // of a process that the roster has
    std::function<Result<void>(Pid)> watch;          // as Session::watch()
  };
  explicit UntracedArrival(Parts parts) : p_(std::move(parts)) {}

  // About once a second: looks for such children and takes them.
  void look();
  // The children that were found become tracees, and are watched.
  void take_found();
  // Children in the memory of process `host` become tracees. To be called before it has breakpoints, which they would
  // meet without a tracer, and after await_forks(): the kernel reports every child that is made from then on.
  void meet_guests(Pid host);
  // The process of this session that shares its memory with `pid`; null: none.
  Inferior* host_of(Pid pid) const;

 private:
  Result<void> adopt(const UntracedChild& child);
  void take(const UntracedChild& child);

  const Parts p_;
};

}  // namespace fade
