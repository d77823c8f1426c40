// One supervised run: knows its processes and threads, gives every stop to the object that handles it, and resumes.
// Tracing thread only. Nothing here may leave a thread stopped.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <regex>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/event.hpp"
#include "ptrace/cpu_follower.hpp"
#include "ptrace/stop.hpp"
#include "ptrace/tracee.hpp"
#include "ptrace/tracer.hpp"
#include "ptrace/turns.hpp"
#include "session/arrival.hpp"
#include "session/auxiliary_vector.hpp"
#include "session/black_box.hpp"
#include "session/breakpoint_capture.hpp"
#include "session/call_effects.hpp"
#include "session/capture.hpp"
#include "session/departure.hpp"
#include "session/engines.hpp"
#include "session/hang_watch.hpp"
#include "session/hold_times.hpp"
#include "session/module_watch.hpp"
#include "session/rendezvous.hpp"
#include "session/roster.hpp"
#include "session/sigtrap/trap_guard.hpp"
#include "session/sigtrap/untraced_children.hpp"
#include "session/sigtrap/waiting_traps.hpp"
#include "session/site_watch.hpp"
#include "session/stack_capture.hpp"
#include "session/stop_tally.hpp"
#include "session/unclaimed_children.hpp"

namespace fade {

struct SessionOptions {
  ModuleWatch::Wishes wishes;
  StackChoice stacks;
  bool follow = true;                       // children of the first process
  std::optional<std::regex> child_filter;   // only programs with a path that matches are watched
  std::vector<std::string> only_ranks;      // of programs with RANK in their environment, only these; empty: all
  std::size_t most_call_sites = 1'000'000;  // call sites of one program: a target decides how many there are
  // rest of a lifted return place before it is forgotten; longer than any fork takes
  std::int64_t return_rest_ns = 20'000'000'000;
  std::int64_t hang_ns = 0;  // a process hangs if its running calls go on for so long and none ends; 0: never
};

class Session {
 public:
  Session(const Tracer& tracer, EventSink& sink, SessionClock clock, const probes::Overrides& overrides,
          SessionOptions options);

  // A process that was just seized and has not yet executed its program. The first one is the main process.
  void adopt(pid_t pid);
  // While `asked` is set, seize() and watch() call it about every 20 ms. They fail with ECANCELED as soon as it returns
  // true.
  void leave_when(std::function<bool()> asked) { rendezvous_.leave_when(std::move(asked)); }
  // A running process: all its threads become tracees, none stops. Stops of tracees are handled meanwhile. Fails with
  // EPERM, ESRCH or ECANCELED.
  Result<void> seize(pid_t pid);
  // After seize(): the process is watched from now on. None of its threads is stopped for longer than a few remote
  // system calls take. Fails with ESRCH (gone), ENOTSUP (cannot be watched; nothing was changed), EAGAIN or ECANCELED.
  // After a failure, too, let_go() detaches the seized threads.
  Result<void> watch(pid_t pid);
  // The next stop of any tracee, for handle(); blocks as Tracer::next() does. Not while another stop waits to be
  // handled.
  Stop next();
  // Returns the session time at the end of the handling, or a little earlier. A caller need not read the clock after a
  // stop.
  std::int64_t handle(const Stop& stop);
  // After every stop, and about ten times a second without one: does the housekeeping that is due. `now`: session time.
  void tick(std::int64_t now);
  // Sends the costs of stops since the last time, and the imports that have been bound since.
  void report_costs(bool at_end = false);
  // Samples the threads that have made a watched call and are in none now. Stops no thread: see
  // StackCapture::from_outside().
  void take_samples();
  void set_recording(bool on);
  // Children that their makers can no longer report run on untraced. tick() does so, too.
  void give_up_children();
  // Return places give their breakpoints back if breakpoints are scarce. tick() does so, too.
  void rest_returns();
  // Each thread of all processes stops once and is looked at.
  void take_snapshot();
  // Takes all breakpoints out and sets no more; stays with the processes to their end.
  void stop_watching();
  // Gives every process back as it was: the processes run on without fade. Afterwards there is no stop to wait for.
  void let_go();
  // The hold times of watch() and of let_go(), all processes together.
  HoldTimes attach_holds() const { return arrival_.holds(); }
  HoldTimes detach_holds() const { return departure_.holds(); }
  // when fade attached: function (thread)
  const std::vector<std::string>& calls_in_flight() const { return arrival_.calls_in_flight(); }
  // After let_go(): number of bytes of text that differ from the original. Only 0 is right.
  std::uint64_t bytes_left_changed() const { return departure_.bytes_left_changed(); }

  bool started() const { return started_; }  // the main process has executed its program
  bool main_ended() const { return main_ended_; }
  bool main_stopped() const;  // the main process is there, and stopped by a signal
  bool empty() const { return roster_.processes().empty() && !untraced_.has_found(); }
  int main_status() const { return main_status_; }  // exit status, or
  int main_signal() const { return main_signal_; }  // the signal that killed it

  struct Totals : StopTotals {
    std::int64_t life_ns = 0;       // of all processes, as far as it was seen: from the first begin to the last end
    std::int64_t main_life_ns = 0;  // of the main process; 0: it has not ended
    std::uint64_t processes = 0, threads = 0, functions_armed = 0, vanished = 0;
    std::vector<std::string> libraries, notes;
    // a sentence each: a library asked for an answer that a rule changes for other libraries alone
    std::vector<std::string> excluded;
    std::vector<std::string> postmortems;  // a sentence each: crashes and hangs
  };
  Totals totals() const;

 private:
  using Handler = void (Session::*)(const Stop&);
  void on_signal(const Stop& stop);
  void on_group(const Stop& stop);
  void on_trap_stop(const Stop& stop);
  void on_child(const Stop& stop);
  void on_exec(const Stop& stop);
  void on_syscall(const Stop& stop);
  void on_end(const Stop& stop);
  void on_exit(const Stop& stop);

  bool on_breakpoint(Thread& thread, std::int64_t now);
  void keep_promises(Thread& thread, const Entry& entry, const Registers& registers);
  void account(std::uint32_t entry, std::int64_t since);
  void deliver(const Stop& stop);
  void show_own_address(Thread& thread);

  Inferior& add_process(pid_t pid, ProcessId parent, std::shared_ptr<Program> program);
  int first_device() const;
  void end_thread(Thread& thread, bool process_ended);
  void end_process(Inferior& inferior, const Stop& stop);
  void note(const Thread& thread, std::string kind, std::int64_t value = 0, std::string detail = {});
  void look_at_imports(bool all);

  // Housekeeping, and how often it is due.
  struct Duty {
    std::int64_t period;  // ns
    void (*look)(Session& session);
    std::int64_t last = 0;
  };
  static std::vector<Duty> duties();
  // How much CPU time each process has used.
  void sample_cpu();

  // session_children.cpp
  void learn_of_child(const Stop& stop);
  void start_child(pid_t tid);
  void leave_alone(Inferior& inferior, pid_t tid);
  void mend_copy(Inferior& inferior, Thread& thread);
  void watch_early_children();

  // session_programs.cpp
  Thread& only_thread(Inferior& inferior, pid_t former);
  Thread& begin_anew(Inferior& inferior, pid_t former);
  void begin_program(Inferior& inferior, Thread& thread, TrapBelief belief);
  std::string unwatchable(const Inferior& inferior, const Thread& thread, std::optional<AuxiliaryVector>& facts) const;

  // session_seize.cpp
  Result<void> seize_thread(pid_t tid);
  Result<void> seize_threads(pid_t pid);
  Result<bool> seize_some(pid_t pid);
  void claim(Inferior& inferior, pid_t tid);

  // session_untraced.cpp
  void look_for_untraced();
  Result<void> adopt(const UntracedChild& child);
  void watch_untraced();
  void watch_untraced(const UntracedChild& child);
  void meet_guests(pid_t host);
  Inferior* host_of(pid_t pid);

  // session_look.cpp
  void look_for_hangs();
  void look_at(Inferior& inferior, Postmortem::Kind kind);

  const Tracer& tracer_;
  EventSink& sink_;
  const SessionClock clock_;
  std::int64_t last_time_ = 0;  // that was looked up for a stop
  const SessionOptions options_;
  const bool watches_devices_;  // calls of hipSetDevice are seen
  Turns turns_;
  Roster roster_;
  StopTally tally_;
  FunctionTable functions_;
  Engines engines_;
  ModuleWatch modules_;
  StackCapture stacks_;
  CallBooks books_;
  CallEffects effects_;
  BreakpointCapture breakpoints_;
  TrapGuard guard_;
  SiteWatch sites_;
  BlackBox black_box_;
  CpuFollower follower_;
  Rendezvous rendezvous_;
  HangWatch hangs_;
  UnclaimedChildren unclaimed_;
  UntracedChildren untraced_;
  Arrival arrival_;
  Departure departure_;
  WaitingTraps traps_;
  std::vector<Duty> duties_ = duties();

  Totals totals_;
  pid_t main_ = 0;
  int main_status_ = 0, main_signal_ = 0;
  bool started_ = false, main_ended_ = false;
};

}  // namespace fade
