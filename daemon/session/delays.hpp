// The threads that a delay of --inject holds in their stop. Others run meanwhile, and the tracer takes their stops. A
// held thread is already where it goes on, and its stop is reaped: if fade dies, it runs on at once. Tracing thread
// only, while a Tracer lives.
#pragma once
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/pid.hpp"
#include "ptrace/quick_tick.hpp"
#include "session/roster.hpp"

namespace fade {

class Delays {
 public:
  using Ended = std::function<void(Thread& thread, std::int64_t now)>;
  // `ended`: a delay of the thread has ended, and the thread goes on then.
  Delays(const SessionClock& clock, const Roster& roster, Ended ended)
      : clock_(clock), roster_(roster), ended_(std::move(ended)) {}

  // The stopped thread goes on at thread.held_until.
  void hold(const Thread& thread);
  // Often: resumes the threads that were held long enough, and those that a signal is to stop or to end.
  void look();
  // Of one process, or (null) of all: a stop of a whole process comes only when each of its threads takes it.
  void release(const Inferior* of);
  bool empty() const { return held_.empty(); }

 private:
  bool goes_on(Tid tid, std::int64_t now, bool looks_for_signals) const;
  void set_tick(std::int64_t now);

  const SessionClock& clock_;
  const Roster& roster_;
  const Ended ended_;
  QuickTick tick_;
  std::vector<Tid> held_;
  std::int64_t due_ = 0, looked_ = 0;  // the next end of a delay, or the next look; the last look at signals
};

}  // namespace fade
