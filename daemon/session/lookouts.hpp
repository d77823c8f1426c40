// A session's looks at its processes: because they seem to hang, because a user asked, or now and then. Tracing thread
// only.
#pragma once
#include "base/clock.hpp"
#include "session/black_box.hpp"
#include "session/call_watch.hpp"
#include "session/hang_watch.hpp"
#include "session/rendezvous.hpp"
#include "session/roster.hpp"
#include "session/session_options.hpp"
#include "session/site_watch.hpp"

namespace fade {

class Lookouts {
 public:
  Lookouts(EventSink& sink, const SessionClock& clock, const Roster& roster, Rendezvous& rendezvous, CallWatch& calls,
           const SessionOptions& options);
  Lookouts(const Lookouts&) = delete;
  Lookouts& operator=(const Lookouts&) = delete;

  // About ten times a second: reports processes that hang.
  void look_for_hangs();
  // About ten times a second: breakpoints that a program took out are set again. `holds`: of the threads stopped for
  // it.
  void look_after_sites(HoldClock& holds);
  // How much CPU time each process has used: a row a second at first, of long runs never more than some hundred.
  void sample_cpu();
  // Samples the threads that have made a watched call and are in none now. Stops no thread: see
  // StackCapture::from_outside().
  void take_samples();
  // Each thread of all processes stops once and is looked at.
  void take_snapshot();

  BlackBox& black_box() { return black_box_; }
  const BlackBox& black_box() const { return black_box_; }
  const SiteWatch& sites() const { return sites_; }

 private:
  void look_at(Inferior& inferior, Postmortem::Kind kind);

  EventSink& sink_;
  const SessionClock& clock_;
  const Roster& roster_;
  Rendezvous& rendezvous_;
  CallWatch& calls_;
  BlackBox black_box_;
  HangWatch hangs_;
  SiteWatch sites_;
};

}  // namespace fade
