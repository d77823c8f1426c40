// Stops running threads, for work that only a stopped thread can do, and resumes them. Other tracees stop meanwhile:
// their stops go to the session's handler, which may end any process or replace its program. So a caller finds threads
// again by number. Tracing thread only.
#pragma once
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "base/pid.hpp"
#include "ptrace/tracee.hpp"
#include "ptrace/tracer.hpp"
#include "session/hold_times.hpp"
#include "session/roster.hpp"

namespace fade {

class Rendezvous {
 public:
  using Handler = std::function<void(const Stop&)>;

  Rendezvous(const Tracer& tracer, Turns& turns, const Roster& roster, SessionClock clock, Handler handle)
      : tracer_(tracer), turns_(turns), roster_(roster), clock_(clock), handle_(std::move(handle)) {}

  // While `asked` is set, every wait calls it about each 20 ms and ends early if it returns true.
  void leave_when(std::function<bool()> asked);
  // True if the wish to leave is there. Calls `asked` if 20 ms have passed.
  bool gives_up();
  bool has_given_up() const { return gave_up_; }
  static Error asked_to_leave();  // ECANCELED

  // Returns a thread of the process in a stop that fade asked for; nullptr: none stopped in time. settle() has it go
  // on.
  Thread* stop_any(const Inferior& inferior);
  Thread* stop_one_of(std::vector<Tid> tids, ProgramMark program);
  // Returns the stop of the thread that fade asked for; nullopt: the thread ended, or did not stop for `patience`. A
  // later stop of the thread is handled as any other.
  std::optional<Stop> stop(Thread& thread, std::chrono::milliseconds patience);
  // Stops each thread once, runs `look`, resumes it. Returns the threads that did not stop within kPatience. `holds`:
  // may be nullptr.
  std::vector<Tid> stop_each(const std::vector<Tid>& tids, const std::function<void(Thread&)>& look, HoldClock* holds);
  // One thread of the process is stopped while `work` runs. EAGAIN: none stops; ENOTSUP: a 32-bit program.
  Result<void> with_guide(Inferior& inferior, const std::function<Result<void>(Thread&)>& work, HoldClock& holds);
  // All threads of the process stand still at once while `work` runs; it gets one of them. `held_ns`: how long the
  // thread that stopped first stood still. EAGAIN: a thread does not stop, for kPatienceOnBusyMachine if it is ready to
  // run; ESRCH: the program is gone. `work` did not run then.
  Result<void> with_all_held(ProgramMark program, const std::function<void(Tid)>& work, std::int64_t& held_ns);
  // Resumes a stopped thread, behind one stop more: only there the kernel takes up an interrupted system call, a
  // pending signal or a group-stop.
  void settle(Thread& thread);
  // Handles stops that wait, 256 at most. Never blocks.
  void serve_stops();
  // Waits for the next stop and handles it.
  void serve_next() { handle_(turns_.next()); }

  // Resumes a thread from a stop that fade asked for.
  static void go_on(const Thread& thread);
  // Sets the registers so that the program does not see its system call interrupted by fade alone.
  static void take_up_call(const Tracee& tracee);

  static constexpr std::chrono::milliseconds kPatience{300};  // a thread in a driver or in vfork does not stop
  // A thread that is ready to run stops as soon as the system gives it a CPU.
  static constexpr std::chrono::milliseconds kPatienceOnBusyMachine{10'000};

 private:
  std::optional<Stop> wait_for(Tid tid, std::chrono::nanoseconds patience);
  void hold_all(ProgramMark program, std::vector<Stop>& held, std::int64_t& since);
  bool are_all_held(ProgramMark program, const std::vector<Stop>& held) const;

  const Tracer& tracer_;
  Turns& turns_;
  const Roster& roster_;
  const SessionClock clock_;
  const Handler handle_;
  std::function<bool()> leave_asked_;
  std::int64_t last_leave_look_ = 0;
  bool gave_up_ = false;
};

}  // namespace fade
