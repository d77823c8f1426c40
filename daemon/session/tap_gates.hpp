// The gates in front of taps: which calls of a function are recorded, and how many were only counted. Tracing thread
// only.
#pragma once
#include "base/clock.hpp"
#include "session/function_table.hpp"
#include "session/roster.hpp"
#include "session/tap_threads.hpp"

namespace fade {

class TapGates {
 public:
  TapGates(EventSink& sink, const SessionClock& clock, const Roster& roster, FunctionTable& functions)
      : sink_(sink), clock_(clock), roster_(roster), functions_(functions) {}

  // Sends the calls that gates have counted since the last time. Not `recording`: they are left out, as other calls
  // are.
  void count(bool recording);
  void count(const Thread& thread, TapThreads& taps, TapThread& ring, bool recording);

  // A signal meets the thread with these registers behind a gate, or in it. Moves the thread to the entry of the
  // function, and takes its call back. False: the thread is at another place, and nothing was done.
  static bool show_entry(Thread& thread, const Registers& met);

 private:
  void lose(const Thread& thread);

  EventSink& sink_;
  const SessionClock& clock_;
  const Roster& roster_;
  FunctionTable& functions_;
};

}  // namespace fade
