// Sets breakpoints at the return addresses of calls, and counts the returns that no breakpoint can show. Tracing thread
// only.
#pragma once
#include <cstdint>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "session/call_sites.hpp"
#include "session/roster.hpp"
#include "session/unseen_returns.hpp"

namespace fade {

class ReturnWatch {
 public:
  ReturnWatch(EventSink& sink, const SessionClock& clock, const Roster& roster, const CallSites& sites)
      : sink_(sink), clock_(clock), roster_(roster), sites_(sites) {}

  // Ensures a breakpoint at the return address of a call that the stopped thread begins. False: there can be none, and
  // the reason is recorded. While fade leaves the process no breakpoint is set, and the call counts as one that is
  // running then (true).
  bool watch(Thread& thread, CallSite& call_site, RemoteAddr return_address);

  // The thread has met the breakpoint at a return address without a call that needs it: the call was tapped. It rests
  // until the next call from there that is not.
  void met_by_no_call(const Thread& thread, RemoteAddr return_address) const;

  std::uint64_t unseen() const { return unseen_.total(); }  // returns
  // Now and then, and at the end: sends how many returns could not be seen, by reason.
  void report_unseen(bool at_end) { unseen_.report(sink_, clock_.now(), at_end); }

 private:
  Site* armed_already(const Thread& thread, CallSite& call_site, RemoteAddr return_address) const;
  Result<void> may_arm(const CallSite& call_site, RemoteAddr return_address) const;
  bool is_awaited(const Program& program, RemoteAddr return_address) const;
  void refuse(const Thread& thread, CallSite& call_site, const Error& error);

  EventSink& sink_;
  const SessionClock& clock_;
  const Roster& roster_;
  const CallSites& sites_;
  UnseenReturns unseen_;
};

}  // namespace fade
