// Applies the user's --set rules: overwrites a call's answer about a device before the program reads it. Tracing thread
// only, between the return of a call and the resumption of the thread.
#pragma once
#include <set>
#include <string>

#include "base/clock.hpp"
#include "probes/overrides/overrides.hpp"
#include "session/argument_reader.hpp"
#include "session/inferior.hpp"

namespace fade {

class Corrector {
 public:
  // `keeps_answers`: whole structures are kept for the search for copies of them.
  Corrector(EventSink& sink, const SessionClock& clock, const probes::Overrides& overrides, bool keeps_answers)
      : sink_(sink), clock_(clock), overrides_(overrides), keeps_answers_(keeps_answers) {}

  // The call has returned without an error, and its outputs are read. Writes the rules' values into the program's
  // memory and adds the new bytes to the call's payload. Sends an OverrideHit for each field.
  void correct(Thread& thread, const Entry& entry, OpenCall& call);

  // Sentences: libraries that asked for an answer which a rule changes for other libraries alone,
  const std::set<std::string>& excluded() const { return excluded_; }
  // and devices that a rule is not for.
  const std::set<std::string>& left_alone() const { return left_alone_; }

 private:
  void patch(Thread& thread, const probes::DeviceCall& asked, OpenCall& call);
  bool apply(const Thread& thread, const probes::DeviceCall& asked, probes::Patch& patch, OpenCall& call);
  void keep_answer(const Thread& thread, const probes::DeviceCall& call) const;
  void place(Thread& thread, probes::DeviceCall& call);
  void note_unplaced(Thread& thread, const probes::DeviceCall& call);
  void note_left_alone(Thread& thread, const probes::DeviceCall& call);
  void note_excluded(const probes::DeviceCall& call);
  void note(const Thread& thread, std::string sentence);

  EventSink& sink_;
  const SessionClock& clock_;
  const probes::Overrides& overrides_;
  const bool keeps_answers_;
  std::set<std::string> excluded_, left_alone_;
};

}  // namespace fade
