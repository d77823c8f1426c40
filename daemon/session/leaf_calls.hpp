// Calls of taps with no watched call inside. Their two records follow each other, so such a call is never kept open:
// it is recorded from both at once. All other calls go the long way of TapRecords, with the same outcome. If only sums
// are kept of such calls, they have no record either (SummedCall). Tracing thread only.
#pragma once
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "probes/summed_words.hpp"
#include "session/breakpoint_capture.hpp"
#include "session/call_effects.hpp"
#include "session/called_kernels.hpp"
#include "session/capture.hpp"
#include "session/session_options.hpp"
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
    SummedCalls summed;
  };
  explicit LeafCalls(const Parts& parts);

  // Before the records of a time: what is remembered of call sites may be out of date.
  void begin() { ++round_; }
  // Only sums are kept for a while, of all calls.
  void sum_all(bool on) {
    if (usual_ != SummedCalls::Never) summed_ = on ? SummedCalls::All : usual_;
  }
  // Records the call of these two records if it is such a call. False: nothing was done.
  bool take(Thread& thread, TapThread& ring, const tap::Record& entry, const tap::Record& exit,
            const tap::TscClock& clock);
  // Records calls of which only sums are kept straight from the ring, up to a time, until so many bytes were read.
  // Stops in front of anything else. Only if no record that was read waits, and no other ring has a record.
  struct Bounds {
    std::uint64_t tsc, bytes;
  };
  void take_summed(Thread& thread, TapThreads& program, TapThread& ring, Bounds until, const tap::TscClock& clock);

 private:
  using Values = probes::SummedWords::Values;
  // A lane of the calls that wait to be sent (CallBook::lane()).
  struct RecentLane {
    std::uint64_t round = 0, flush = 0;  // in which it was made
    const Thread* thread = nullptr;
    FunctionId function = 0;
    CallSiteId caller = 0;
    CallId parent = 0;
    std::uint32_t lane = 0;
    Values words{};
  };
  // A function in a program, looked up once for many calls.
  struct Known {
    std::uint64_t round = 0;  // in which it was looked up
    const Program* program = nullptr;
    std::uint16_t number = 0;
    TapCell* cell = nullptr;  // null: its calls go the long way
    const Entry* entry = nullptr;
    RemoteRange code;                             // of all taps
    std::optional<RemoteAddr> return_address;     // of the last call
    CallSiteId caller = 0;                        // its call site
    const probes::SummedWords* summed = nullptr;  // not null: a call with the result 0 needs no record
    RecentLane last;                              // of the last such call
    // The last call that CallEffects was told of. Others like it change nothing.
    const Thread* told = nullptr;
    std::uint64_t told_result = 0;
  };

  Known& known(const Thread& thread, std::uint16_t number);
  bool can_take(const Thread& thread, const TapThread& ring, const Known& function, const tap::Record& entry,
                const tap::Record& exit) const;
  const probes::SummedWords* summed_words(const Known& function);
  bool can_sum(const Thread& thread, Known& function, const tap::RecordPair& pair);
  bool sum(Thread& thread, TapThread& ring, Known& function, const tap::RecordPair& pair, const tap::TscClock& clock);
  static void count(Known& function, TapThread& ring, std::uint64_t tsc);
  void tell(Thread& thread, Known& function, std::uint64_t result);
  bool lane_of(const Thread& thread, Known& function, const probes::SummedWords::Places& call);
  bool look_up_lane(const Thread& thread, Known& function, const probes::SummedWords::Places& call);
  bool is_in(const RecentLane& lane, const Thread& thread, const Known& function) const;
  std::uint32_t new_lane(const Thread& thread, const Known& function, const Values& words);
  RecentLane& recent(const Thread& thread, const Known& function, const Values& words);
  static std::uint16_t flags_of(const Known& function);
  CallSiteId caller_of(const Thread& thread, Known& function, RemoteAddr return_address);
  probes::Payload payload_of(const Entry& function, const tap::Record& entry, const tap::Record& exit);

  static constexpr std::size_t kKnown = 64;
  static constexpr int kRecentBits = 8;

  FunctionTable& functions_;
  CallBook& book_;
  CallSites& sites_;
  CallEffects& effects_;
  CalledKernels& kernels_;
  const SummedCalls usual_;
  SummedCalls summed_;
  std::vector<Known> known_{kKnown};
  std::vector<RecentLane> recent_{std::size_t{1} << kRecentBits};
  std::unordered_map<FunctionId, std::optional<probes::SummedWords>> summed_words_;
  std::uint64_t round_ = 0;
  std::vector<std::byte> payload_;
};

}  // namespace fade
