// Calls of taps with no watched call inside. Their two records follow each other, so such a call is never kept open:
// it is recorded from both at once. All other calls go the long way of TapRecords, with the same outcome. Tracing
// thread only.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "session/breakpoint_capture.hpp"
#include "session/call_effects.hpp"
#include "session/called_kernels.hpp"
#include "session/capture.hpp"
#include "session/tap_threads.hpp"
#include "tap/tsc_clock.hpp"

namespace fade {

// Appends what a tap has recorded beside the registers: the words on the stack at an entry, an output at an exit.
void append_tap_pieces(std::vector<std::byte>& payload, const Entry& function, const tap::Record& record);

class LeafCalls {
 public:
  struct Parts {
    FunctionTable& functions;
    CallBooks& books;
    CallEffects& effects;
    CalledKernels& kernels;
  };
  explicit LeafCalls(const Parts& parts);

  // Before the records of a time: what is remembered of call sites may be out of date.
  void begin() { ++round_; }
  // Records the call of these two records if it is such a call. False: nothing was done.
  bool take(Thread& thread, TapThread& ring, const tap::Record& entry, const tap::Record& exit,
            const tap::TscClock& clock);

 private:
  // A function in a program, looked up once for many calls.
  struct Known {
    std::uint64_t round = 0;  // in which it was looked up
    const Program* program = nullptr;
    std::uint16_t number = 0;
    TapArea::Cell* cell = nullptr;  // null: its calls go the long way
    const Entry* entry = nullptr;
    RemoteRange code;                          // of all taps
    std::optional<RemoteAddr> return_address;  // of the last call
    CallSiteId caller = 0;                     // its call site
  };

  Known& known(const Thread& thread, std::uint16_t number);
  bool can_take(const Thread& thread, const TapThread& ring, const Known& function, const tap::Record& entry,
                const tap::Record& exit) const;
  CallSiteId caller_of(const Thread& thread, Known& function, RemoteAddr return_address);
  probes::Payload payload_of(const Entry& function, const tap::Record& entry, const tap::Record& exit);

  static constexpr std::size_t kKnown = 64;

  FunctionTable& functions_;
  CallBook& book_;
  CallSites& sites_;
  CallEffects& effects_;
  CalledKernels& kernels_;
  std::vector<Known> known_{kKnown};
  std::uint64_t round_ = 0;
  std::vector<std::byte> payload_;
};

}  // namespace fade
