// Call sites: the places in a program that watched calls return to. Each gets an id and is described once, with the
// library and the symbol around it. Tracing thread only.
#pragma once
#include "base/event.hpp"
#include "session/inferior.hpp"
#include "session/kernel_names.hpp"

namespace fade {

class CallSites {
 public:
  // `most`: call sites of one program that are kept apart; the target decides how many there are.
  CallSites(EventSink& sink, ModuleSymbols& symbols, std::size_t most) : sink_(sink), symbols_(symbols), most_(most) {}

  // The call site of a call that returns to `return_address`, in the program of a stopped thread. Sends CallSiteSeen if
  // it is new. All call sites past the limit are one object without an id.
  CallSite& of(const Thread& thread, RemoteAddr return_address);
  // For code that the program has written again: looks whether the return address is executable now.
  static void look_again(const Thread& thread, CallSite& site, RemoteAddr return_address);
  std::size_t most() const { return most_; }

 private:
  CallSiteSeen describe(const Thread& thread, RemoteAddr return_address, CallSite& site);

  EventSink& sink_;
  ModuleSymbols& symbols_;
  const std::size_t most_;
  CallSiteId last_ = 0;
  CallSite other_;  // past the limit
};

}  // namespace fade
