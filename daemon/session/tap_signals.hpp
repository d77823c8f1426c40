// Signals that meet a thread in a tap. Tracing thread only.
#pragma once
#include "session/tap_drain.hpp"
#include "session/tap_place.hpp"

namespace fade {

class TapSignals {
 public:
  TapSignals(const Roster& roster, FunctionTable& functions, TapRecords& records, TapDrain& drain)
      : roster_(roster), functions_(functions), records_(records), drain_(drain) {}

  // A signal is about to be delivered to the thread. If it met the thread in a tap, the thread is moved out of it: back
  // to the entry of the function, or behind the call. Its handler may look at the address, or never return.
  void show_own_address(Thread& thread);

 private:
  void take_back(const TapPlace& place, Thread& thread, TapThread& ring);
  void show_entry_of_open(const TapPlace& place, Thread& thread, const Registers& registers);
  void show_again(const TapPlace& place, Thread& thread);
  void end_early(const TapPlace& place, Thread& thread, TapThread& ring);

  const Roster& roster_;
  FunctionTable& functions_;
  TapRecords& records_;
  TapDrain& drain_;
};

}  // namespace fade
