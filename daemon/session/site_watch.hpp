// Notices breakpoints that a program has taken out: calls that fade would miss without a word. Sets them again over the
// program's own code, gives up the rest, and reports both. Tracing thread only.
#pragma once
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/pid.hpp"
#include "session/function_table.hpp"
#include "session/program.hpp"
#include "session/rendezvous.hpp"

namespace fade {

class SiteWatch {
 public:
  static constexpr std::int64_t kPeriod = 400'000'000;  // between two looks at one program, ns

  SiteWatch(EventSink& sink, const SessionClock& clock, FunctionTable& functions)
      : sink_(sink), clock_(clock), functions_(functions) {}

  // About ten times a second: looks at the programs that are due, and mends them. `holds`: how long threads were
  // stopped for it.
  void look_after(const Roster& roster, Rendezvous& rendezvous, HoldClock& holds);

  bool is_due(const Program& program) const { return clock_.now() - program.site_looks.last >= kPeriod; }

  // A site that is to be mended.
  struct Vanished {
    VanishedSite site;
    std::int64_t in_place = 0;  // session time at which its breakpoint was seen last
  };
  // Looks at all breakpoints of the program; none of its threads need be stopped. Returns those to be mended now. A
  // breakpoint with other code or no memory in its place counts after a second look: the program may still be writing
  // there.
  std::vector<Vanished> look(Program& program) const;
  // Sets them again or gives them up, and sends a Lifecycle row ("vanished") for each of these. `stopped`: a thread, or
  // kNobody if the memory can be written without one.
  void mend(Program& program, ProcessId process, const std::vector<Vanished>& vanished, Tid stopped);
  // How many breakpoints were found to be gone so far.
  std::uint64_t vanished() const { return set_again_ + given_up_; }
  // Sentences for the user at the end of the recording.
  std::vector<std::string> notes() const;

 private:
  struct Lost;
  std::vector<ProgramMark> due(const Roster& roster) const;
  bool look_after(ProgramMark mark, const Roster& roster, Rendezvous& rendezvous, HoldClock& holds);
  void tell(ProcessId process, const Lost& lost, const std::string& what_became, bool is_over);
  std::string name_of(const Site& site) const;

  EventSink& sink_;
  const SessionClock& clock_;
  FunctionTable& functions_;
  std::uint64_t set_again_ = 0, given_up_ = 0;
};

}  // namespace fade
