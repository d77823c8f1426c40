// What calls change in a session besides their own records: progress, newly found functions, the device nodes that
// HIP has opened. Every engine reports the begins and ends of calls here. Tracing thread only.
#pragma once
#include <optional>

#include "base/clock.hpp"
#include "session/export_table.hpp"
#include "session/module_watch.hpp"

namespace fade {

// A call that has ended.
struct EndedCall {
  std::uint64_t result = 0;
  std::optional<TableGiven> table;  // the call succeeded, and gave a table of functions
};

class CallEffects {
 public:
  CallEffects(EventSink& sink, const SessionClock& clock, ModuleWatch& modules)
      : sink_(sink), clock_(clock), modules_(modules) {}

  // The thread begins a call of `entry`.
  static void began(Thread& thread, const Entry& entry);
  // The thread, stopped behind the return, has ended a call of `entry`, which may be an IFUNC resolver.
  void ended(Thread& thread, const Entry& entry, const EndedCall& call);

 private:
  void tell_gpu_nodes(const Thread& thread, const Entry& entry);

  EventSink& sink_;
  const SessionClock& clock_;
  ModuleWatch& modules_;
};

}  // namespace fade
