// Gives functions of a program that runs already the entry jumps that taps need, and taps them. The breakpoints of
// these functions stand (EntryConversion changes the bytes, Outside looks after the threads). Tracing thread only.
#pragma once
#include <span>
#include <vector>

#include "base/clock.hpp"
#include "session/hold_times.hpp"
#include "session/outside.hpp"
#include "session/tap_capture.hpp"
#include "session/watched_function.hpp"

namespace fade {

class Conversion {
 public:
  struct Parts {
    EventSink& sink;
    const SessionClock& clock;
    const Roster& roster;
    Rendezvous& rendezvous;
    const UntracedChildren& untraced;
    FunctionTable& functions;
    TapCapture& taps;
  };
  explicit Conversion(const Parts& parts) : p_(parts) {}

  // From now on, calls of these functions go through taps. Stops are handled meanwhile, so the process may be gone
  // afterwards. Functions that cannot have a jump keep their breakpoints. Returns those to be tried again later: a
  // thread is in their first bytes, or cannot be seen. `holds`: of the threads that are stopped.
  std::vector<WatchedFunction> convert(Inferior& inferior, std::span<const WatchedFunction> functions,
                                       HoldClock& holds);
  // The same for all functions of the program that wait for a tap (Program::untapped).
  void convert_waiting(Inferior& inferior, HoldClock& holds);
  // About ten times a second: tries again what could not be done before, less and less often.
  void look(HoldClock& holds);

 private:
  struct Begun;
  bool place_taps(Inferior& inferior, const FunctionEntry& first, HoldClock& holds);
  Begun begin(Inferior& inferior, std::span<const WatchedFunction> functions) const;
  bool tell(const Inferior& inferior, std::uint32_t entry, const char* kind, const std::string& more) const;
  bool finish(Inferior& inferior, const WatchedFunction& function);
  void entries_have_moved(const Program& program, RemoteAddr function, const Site& jump) const;

  const Parts p_;
};

}  // namespace fade
