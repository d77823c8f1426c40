// Chooses, for `--engine auto`, the engine of each function: breakpoints at first, a tap if it is called often, and
// breakpoints again if it is quiet. Each choice is a row of `lifecycle`. Tracing thread only.
#pragma once
#include <cstdint>

#include "base/clock.hpp"
#include "base/event.hpp"
#include "session/function_table.hpp"
#include "session/inferior.hpp"
#include "session/roster.hpp"
#include "session/tap_capture.hpp"

namespace fade {

class TapPromotion {
 public:
  struct Parts {
    EventSink& sink;
    const SessionClock& clock;
    const Roster& roster;
    FunctionTable& functions;
    TapCapture& taps;
    std::int64_t quiet_ns = 0;
    std::int64_t window_ns = HotFunctions::kWindow;
    bool is_on = false;
  };
  explicit TapPromotion(const Parts& parts) : p_(parts) {}

  // The thread stands still at a breakpoint of `entry`, one of the two of a call. 0: of no function.
  void stopped(Thread& thread, std::uint32_t entry, std::int64_t now);
  // Untaps functions that were not called for `quiet_ns`. About once a second.
  void look_for_quiet();

 private:
  void tell(const Inferior& inferior, const char* kind, std::uint64_t rate, std::uint32_t entry,
            const std::string& more);

  const Parts p_;
};

}  // namespace fade
