// Makes sure that no thread of a program is in some ranges of its text any longer, or will return there from a signal
// handler. The caller has seen to it that no thread enters the ranges anew. So each thread need be seen outside only
// once. A thread that sleeps or stands still is seen without a stop; others are stopped once, for all ranges together.
// Tracing thread only.
#pragma once
#include <memory>
#include <unordered_map>
#include <vector>

#include "base/pid.hpp"
#include "proc/resting_place.hpp"
#include "session/hold_times.hpp"
#include "session/rendezvous.hpp"
#include "session/roster.hpp"
#include "session/sigtrap/untraced_children.hpp"

namespace fade {

// The ranges, by index, that the thread is in or returns to from a handler.
using RangesMet = std::vector<std::size_t>;
RangesMet ranges_around(const Memory& memory, RemoteAddr ip, RemoteAddr sp, const std::vector<RemoteRange>& ranges);

class Outside {
 public:
  struct Parts {
    const Roster& roster;
    Rendezvous& rendezvous;
    const UntracedChildren& untraced;
  };
  Outside(const Parts& parts, std::shared_ptr<const Program> program, std::vector<RemoteRange> ranges);

  // Looks at all threads, those in a range several times. Stops are handled meanwhile. False: a thread could not be
  // seen, because it runs untraced or does not stop.
  bool look(HoldClock& holds);
  // After a look() that was true: no thread is in the range of that index.
  bool is_free(std::size_t range) const;

 private:
  std::vector<Tid> unsettled() const;
  bool is_settled(Tid tid) const;
  bool see_resting(Tid tid);
  void seen(Tid tid, const RangesMet& inside);

  const Parts p_;
  const std::shared_ptr<const Program> program_;
  const std::vector<RemoteRange> ranges_;
  std::unordered_map<Tid, RangesMet> inside_;  // of the threads that were seen
};

}  // namespace fade
