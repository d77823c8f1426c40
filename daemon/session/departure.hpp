// The detaching from processes that run on: each thread stops for a moment, moves out of fade's code if it is in it,
// and is detached. A few threads stop at a time. The last thread of a process takes fade's pages out. The text was put
// back before, while all threads ran, so no thread comes back into that code.
//
// A process may end or execute another program at any of these stops. So all data kept across a stop are found again by
// number. Tracing thread only.
#pragma once
#include <chrono>
#include <functional>
#include <unordered_map>
#include <unordered_set>

#include "base/pid.hpp"
#include "session/foothold.hpp"
#include "session/rendezvous.hpp"
#include "session/sigtrap/trap_guard.hpp"
#include "session/unclaimed_children.hpp"

namespace fade {

class Departure {
 public:
  struct Parts {
    const Tracer& tracer;
    SessionClock clock;
    Turns& turns;
    Roster& roster;
    Rendezvous& rendezvous;
    const UnclaimedChildren& unclaimed;
    const TrapGuard& guard;
    std::function<void(const Stop&)> handle;          // as Session::handle()
    std::function<void(const Stop&)> learn_of_child;  // as handle() of a birth, but its thread stays where it is
  };
  explicit Departure(Parts parts) : p_(std::move(parts)) {}

  // Detaches all threads of all processes. Takes less than 2 s if some of them do not stop.
  void leave_all();

  // How long threads stood still, of all processes together.
  HoldTimes holds() const { return holds_.of(0); }
  // Bytes of text that are not as the program had them. Only 0 is right.
  std::uint64_t bytes_left_changed() const { return bytes_left_changed_; }

 private:
  // The place of a thread after it was moved out of fade's code as far as possible.
  enum class Place {
    Outside,
    // in the middle of an instruction that was moved; or a signal met the thread there without a tracer, and its
    // handler runs
    Inside,
    Left,  // nowhere: it ends, or another thread has executed a program
  };

  void choose_keepers();
  void leave_others();
  void leave_last(Pid pid, Tid keeper);
  bool leave_one(Tid tid, std::int64_t since);
  bool ask(Tid tid);
  bool leave_at(const Stop& stop);
  bool leave_program(const Stop& stop);
  bool try_detach(const Stop& stop);
  Place stand_aside(const Thread& thread, const Tracee& tracee) const;
  Place step_aside(const Thread& thread, const Tracee& tracee, std::vector<int>& met) const;
  void detach(Thread& thread, const Tracee& tracee, int signal) const;
  void leave_the_rest(ProgramMark program, Tid keeper);
  void move_out(ProgramMark program, Tid keeper, const Result<Foothold>& foothold);
  void remove_pages(ProgramMark program, Tid keeper, const Foothold& foothold);
  void look_again(ProgramMark program, Tid keeper);
  void keeps_slots(Tid tid);

  const Parts p_;
  HoldClock holds_;
  std::uint64_t bytes_left_changed_ = 0;
  std::unordered_map<Pid, Tid> keepers_;  // the last thread of each process to go, by pid
  std::unordered_set<Tid> kept_,
      gone_;  // of these threads, those that still wait for their turn; threads that have gone
};

}  // namespace fade
