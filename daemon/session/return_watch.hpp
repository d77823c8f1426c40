// Sets breakpoints at the return addresses of calls, and counts the returns that no breakpoint can show. Tracing thread
// only.
#pragma once
#include <cstdint>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "session/call_sites.hpp"
#include "session/unseen_returns.hpp"

namespace fade {

class ReturnWatch {
 public:
  ReturnWatch(EventSink& sink, const SessionClock& clock, const CallSites& sites)
      : sink_(sink), clock_(clock), sites_(sites) {}

  // Ensures a breakpoint at the return address of a call that the stopped thread begins. False: there can be none, and
  // the reason is recorded. While fade leaves the process no breakpoint is set, and the call counts as one that is
  // running then (true).
  bool watch(Thread& thread, CallSite& call_site, RemoteAddr return_address);

  std::uint64_t unseen() const { return unseen_.total(); }  // returns
  // Now and then, and at the end: sends how many returns could not be seen, by reason.
  void report_unseen(bool at_end) { unseen_.report(sink_, clock_.now(), at_end); }

 private:
  Site* armed_already(const Thread& thread, CallSite& call_site, RemoteAddr return_address) const;
  Result<void> may_arm(const CallSite& call_site, RemoteAddr return_address) const;
  void refuse(const Thread& thread, CallSite& call_site, const Error& error);

  EventSink& sink_;
  const SessionClock& clock_;
  const CallSites& sites_;
  UnseenReturns unseen_;
};

}  // namespace fade
