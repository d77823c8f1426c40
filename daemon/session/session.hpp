// One supervised run: gives every stop to the object that handles it, and sees to it that the thread is resumed. Wires
// those objects together. Tracing thread only. Nothing here may leave a thread stopped.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/event.hpp"
#include "base/pid.hpp"
#include "ptrace/quick_tick.hpp"
#include "ptrace/stop.hpp"
#include "ptrace/tracer.hpp"
#include "ptrace/turns.hpp"
#include "session/cached_copies.hpp"
#include "session/call_watch.hpp"
#include "session/children.hpp"
#include "session/departure.hpp"
#include "session/drain_pace.hpp"
#include "session/hold_times.hpp"
#include "session/lookouts.hpp"
#include "session/population.hpp"
#include "session/programs.hpp"
#include "session/rendezvous.hpp"
#include "session/roster.hpp"
#include "session/seizing.hpp"
#include "session/session_options.hpp"
#include "session/sigtrap/waiting_traps.hpp"

namespace fade {

class Session {  // the fields are the classes that stops are given to; this one only connects them
 public:
  Session(const Tracer& tracer, EventSink& sink, SessionClock clock, const probes::Overrides& overrides,
          SessionOptions options);

  // A process that was just seized and has not yet executed its program. The first one is the main process.
  void adopt(Pid pid) { seizing_.adopt(pid); }
  // While `asked` is set, seize() and watch() call it about every 20 ms. They fail with ECANCELED as soon as it returns
  // true.
  void leave_when(std::function<bool()> asked) { rendezvous_.leave_when(std::move(asked)); }
  // A running process: all its threads become tracees, none stops. Stops of tracees are handled meanwhile. Fails with
  // EPERM, ESRCH or ECANCELED.
  Result<void> seize(Pid pid) { return seizing_.seize(pid); }
  // After seize(): the process is watched from now on. None of its threads is stopped for longer than a few remote
  // system calls take. Fails with ESRCH (gone), ENOTSUP (cannot be watched; nothing was changed), EAGAIN or ECANCELED.
  // After a failure, too, let_go() detaches the seized threads.
  Result<void> watch(Pid pid) { return seizing_.watch(pid); }
  // After watch(), if the options want it: copies of device properties in the memory of all processes. Stops are
  // handled and the housekeeping is done meanwhile. leave_when() ends it.
  void find_cached();
  // The next stop of any tracee, for handle(); blocks as Tracer::next() does. Not while another stop waits to be
  // handled.
  Stop next();
  // Returns the session time at the end of the handling, or a little earlier. A caller need not read the clock after a
  // stop.
  std::int64_t handle(const Stop& stop);
  // After every stop, and at every tick: does the housekeeping that is due. `now`: session time.
  void tick(std::int64_t now);
  // Sends the costs of stops since the last time, and the imports that have been bound since.
  void report_costs(bool at_end = false);
  // Samples the threads that have made a watched call and are in none now. Stops no thread.
  void take_samples() { lookouts_.take_samples(); }
  void set_recording(bool on) { calls_.set_recording(on); }
  // Children that their makers can no longer report run on untraced. tick() does so, too.
  void give_up_children() { population_.give_up_children(); }
  // Return places give their breakpoints back if breakpoints are scarce. tick() does so, too.
  void rest_returns() { calls_.rest_returns(); }
  // --actions: sends the rules. Files that they write have names that begin like the recording's.
  void begin_actions(std::string recording) {
    calls_.actions().write_beside(std::move(recording));
    calls_.actions().begin();
  }
  // --check: starts the process that computes. Its files have names that begin like the recording's.
  void begin_checks(const std::string& recording) { calls_.checks().begin(recording); }
  // Each thread of all processes stops once and is looked at.
  void take_snapshot() { lookouts_.take_snapshot(); }
  // Takes all breakpoints out and sets no more; stays with the processes to their end.
  void stop_watching();
  // Gives every process back as it was: the processes run on without fade. Afterwards there is no stop to wait for.
  void let_go();

  // The hold times of watch() and of let_go(), all processes together.
  HoldTimes attach_holds() const { return seizing_.arrival().holds(); }
  HoldTimes detach_holds() const { return departure_.holds(); }
  // when fade attached: function (thread)
  const std::vector<std::string>& calls_in_flight() const { return seizing_.arrival().calls_in_flight(); }
  // After let_go(): number of bytes of text that differ from the original. Only 0 is right.
  std::uint64_t bytes_left_changed() const { return departure_.bytes_left_changed(); }

  const CachedCopies::Totals& cached() const { return cached_.totals(); }
  std::vector<Pid> pids() const { return roster_.pids(); }
  CaptureEngine engine() const { return options_.engine; }
  bool has_budget() const { return options_.budget > 0; }
  const probes::Injections& injections() const { return options_.injections; }
  // As CallWatch::know_prices().
  void know_prices(const BudgetPrices& prices, std::int64_t run_ns) { calls_.know_prices(prices, run_ns); }
  bool started() const { return population_.main().started; }  // the main process has executed its program
  bool main_ended() const { return population_.main().ended; }
  bool main_stopped() const;  // the main process is there, and stopped by a signal
  bool empty() const { return population_.is_empty(); }
  int main_status() const { return population_.main().status; }  // exit status, or
  int main_signal() const { return population_.main().signal; }  // the signal that killed it

  struct Totals : StopTotals {
    std::int64_t life_ns = 0;       // of all processes, as far as it was seen: from the first begin to the last end
    std::int64_t main_life_ns = 0;  // of the main process; 0: it has not ended
    std::uint64_t processes = 0, threads = 0, functions_armed = 0, vanished = 0;
    std::vector<std::string> libraries, notes;
    // a sentence each: a library asked for an answer that a rule changes for other libraries alone
    std::vector<std::string> excluded;
    probes::RulesSeen rules_seen;          // of --inject and --replace
    std::vector<std::string> postmortems;  // a sentence each: crashes and hangs
  };
  Totals totals() const;

 private:
  void on_signal(const Stop& stop);
  void on_group(const Stop& stop);
  void on_trap_stop(const Stop& stop);
  void on_child(const Stop& stop);
  void on_exec(const Stop& stop);
  void on_end(const Stop& stop);
  void on_exit(const Stop& stop);
  void deliver(const Stop& stop);
  std::vector<std::string> notes() const;

  // Housekeeping, and how often it is due.
  struct Duty {
    std::int64_t period;  // ns
    void (*look)(Session& session);
    std::int64_t last = 0;
  };
  static std::vector<Duty> duties(std::int64_t budget_window);

  void find_cached(const std::vector<Pid>& pids);
  void drain_if_due(std::int64_t now);

  const SessionClock clock_;
  const SessionOptions options_;
  DrainPace pace_;
  QuickTick quick_tick_;
  std::int64_t drained_ = 0, drain_period_ = 0;
  std::int64_t last_time_ = 0;  // session time, read for the stop that is handled
  Turns turns_;
  Roster roster_;
  Rendezvous rendezvous_;
  CachedCopies cached_;
  bool is_searching_ = false;
  CallWatch calls_;
  WaitingTraps traps_;
  Lookouts lookouts_;
  Population population_;
  Children children_;
  Programs programs_;
  Seizing seizing_;
  Departure departure_;
  std::vector<Duty> duties_ = duties(options_.budget_window_ns);
};

}  // namespace fade
