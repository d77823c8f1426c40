// Sums over calls, kept in memory as differences since the last flush and added to the rollup tables there. Calls
// inside a call arrive before it does; their share waits until the function of the outer call is known.
#pragma once
#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/call_batch.hpp"
#include "base/event.hpp"
#include "store/histogram.hpp"
#include "store/recent_map.hpp"
#include "store/write.hpp"

namespace fade::store {

// The time that fade adds to a call on this machine; 0 until it is measured.
struct CostOfCalls {
  std::int64_t call_ns = 0;   // within the call's duration, more or less
  std::int64_t least_ns = 0;  // smallest measurable mean (LeastDuration)
  std::int64_t stop_ns = 0;   // of each of its two stops, beyond the time for which it was held
  // The same for a call that a tap records: within its duration, the smallest measurable mean, and the whole cost.
  std::int64_t tap_within_ns = 0, tap_least_ns = 0, tap_ns = 0;

  // `ns` of `calls` together, of which so many were `tapped`; 0 if that is less than can be measured.
  std::int64_t measurable(std::int64_t ns, std::uint64_t calls, std::uint64_t tapped) const {
    const auto least =
        static_cast<std::int64_t>(calls - tapped) * least_ns + static_cast<std::int64_t>(tapped) * tap_least_ns;
    return ns < least ? 0 : std::max<std::int64_t>(ns, 0);
  }
  std::int64_t within(bool tapped) const { return tapped ? tap_within_ns : call_ns; }
  // The time around the duration, within that of the outer call.
  std::int64_t around(std::int64_t held_ns, bool tapped) const {
    if (tapped) return tap_ns - tap_within_ns;
    return call_ns == 0 ? 0 : held_ns + 2 * stop_ns - call_ns;
  }
};

// Durations are without fade's own cost, so a single one may be less than 0; `cost` is the subtracted time.
struct CallSum {
  std::uint64_t n = 0, errors = 0, leaves = 0;  // leaves: without a watched call inside
  std::uint64_t timed = 0, tapped = 0;          // of n: those with a known duration, those without a stop
  std::uint64_t counted = 0;                    // of n: those of which nothing else is known
  std::int64_t total = 0, self = 0, cost = 0, min = 0, max = 0;
  Histogram histogram;

  void add(std::int64_t ns, std::int64_t self_ns, std::int64_t cost_ns, bool failed, bool leaf,
           bool is_tapped = false) {
    cost += cost_ns;
    tapped += is_tapped;
    min = timed == 0 ? ns : std::min(min, ns);
    max = std::max(max, ns);
    ++n;
    ++timed;
    errors += failed;
    leaves += leaf;
    total += ns;
    self += self_ns;
    histogram.add(std::max<std::int64_t>(0, ns));
  }
  // A call with a duration that was not taken, or is not known.
  void add_untimed(bool leaf) {
    ++n;
    leaves += leaf;
  }
  // Durations are `cost_ns` shorter than in the calls. Returns their sum. All of them are leaves without an error.
  std::int64_t add_tapped(std::span<const SummedCall> calls, std::int64_t cost_ns);
  void add_counted(std::uint64_t calls) {
    n += calls;
    leaves += calls;
    counted += calls;
  }
  void add(const CallSum& other);
};

// Launches of one kernel in one geometry.
struct LaunchSum {
  std::uint64_t n = 0, errors = 0;
  std::int64_t ns = 0, max = 0, first = 0, last = 0;

  void add(std::int64_t at, std::int64_t took, bool failed) {
    first = n == 0 ? at : std::min(first, at);
    last = std::max(last, at);
    ++n;
    errors += failed;
    ns += took;
    max = std::max(max, took);
  }
};

struct FunctionTotal {
  std::uint64_t calls = 0, errors = 0;
  std::uint64_t untimed = 0, tapped = 0;  // of the calls: those without a known duration, those without a stop
  std::int64_t total_ns = 0;
};

class Rollups {
 public:
  Rollups(sqlite::Db& db, Failure& failure);

  struct Second {  // one function's open bucket of call_bucket_
    std::int64_t sec = -1;
    std::uint64_t n = 0;
    std::int64_t total = 0;
    CallRow first_call = 0;
  };
  struct OfFunction {
    Second second;
    FunctionTotal total;
  };
  // The sums of the calls of a function in a thread. Valid until the next flush.
  struct Lane {
    ThreadRow thread = 0;
    FunctionRow function = 0;
    CallSum* from_outside = nullptr;  // calls without an outer call
    OfFunction* all = nullptr;
  };
  Lane lane(ThreadRow thread, FunctionRow function) {
    return {thread, function, &calls_[{thread, function, 0}], &functions_[function]};
  }

  // Sets the cost of all following calls.
  void cost(CostOfCalls cost) { cost_ = cost; }

  // A call as it was measured. `call` and `parent` are row ids; parent 0: called from outside.
  struct Measured {
    CallRow call = 0, parent = 0;
    std::int64_t sec = 0;                // of its entry
    std::optional<std::int64_t> raw_ns;  // nullopt: it never returned
    std::int64_t held_ns = 0;            // at its stops, outside of its duration
    bool tapped = false;                 // it had no stops
    bool failed = false;
  };
  struct Net {                         // without fade's own cost; less than 0 if the call was faster than usual
    std::int64_t ns = 0, self_ns = 0;  // self: without calls inside
  };
  // A call with a duration that was not taken, or is not known.
  void untimed(const Lane& lane, const Measured& call);
  // Calls that were only counted, until the second `sec`. `last`: the last call before.
  void counted(const Lane& lane, std::int64_t sec, CallRow last, std::uint64_t calls);
  Net call(const Lane& lane, const Measured& call) {
    if (call.parent != 0 || !inside_.empty()) return nested(lane, call);
    const std::int64_t cost = call.raw_ns ? cost_.within(call.tapped) : 0, ns = call.raw_ns.value_or(0) - cost;
    count(lane, call, ns);
    lane.from_outside->add(ns, ns, cost, call.failed, true, call.tapped);
    return {ns, ns};
  }
  // Calls of one lane with entries in the second `sec`. All of them were tapped, succeeded, came from outside, and have
  // no calls inside. `first`: the row of the first one. Returns their time.
  std::int64_t summed(const Lane& lane, CallRow first, std::int64_t sec, std::span<const SummedCall> calls);
  std::int64_t cost_of_tapped() const { return cost_.within(true); }  // in the duration of each such call
  // Until the next flush.
  LaunchSum& launches(KernelRow kernel, GeometryRow geometry) { return launches_[{kernel, geometry, 0}]; }
  // `ns`: of all `copies` together, each of so many bytes.
  void copy(ProcessRow process, FunctionRow function, std::int64_t kind, std::int64_t bytes, std::int64_t ns,
            std::uint64_t copies = 1);
  void stops(SessionRow session, FunctionRow function, std::uint64_t stops, std::int64_t held_ns);

  void end_timeline();  // no sums by seconds from now on
  void flush();
  void finish();  // and calls that wait for an outer call that never came

  std::vector<std::pair<FunctionRow, FunctionTotal>> totals() const;  // by function

 private:
  struct StatKey {
    ThreadRow thread = 0;
    FunctionRow function = 0, parent = 0;
    bool operator==(const StatKey&) const = default;
  };
  template <class First, class Second>
  struct PairKey {
    First first = 0;
    Second second = 0;
    std::int64_t third = 0;
    bool operator==(const PairKey&) const = default;
  };
  struct Hash {
    static std::size_t mix(std::int64_t a, std::int64_t b, std::int64_t c) {
      std::uint64_t h = static_cast<std::uint64_t>(a) * 0x9E3779B97F4A7C15u;
      h = (h ^ static_cast<std::uint64_t>(b)) * 0xC2B2AE3D27D4EB4Fu;
      h = (h ^ static_cast<std::uint64_t>(c)) * 0x165667B19E3779F9u;
      return h ^ (h >> 29);
    }
    std::size_t operator()(const StatKey& k) const {
      return mix(k.thread.value(), k.function.value(), k.parent.value());
    }
    template <class First, class Second>
    std::size_t operator()(const PairKey<First, Second>& k) const {
      return mix(k.first.value(), k.second.value(), k.third);
    }
  };
  struct Inside {  // the inner calls of a call that has not returned
    ThreadRow thread = 0;
    std::int64_t ns = 0, cost = 0;  // cost: fade's own, of and around the calls
    std::vector<std::pair<FunctionRow, CallSum>> by_function;
  };
  struct CopySum {
    std::uint64_t n = 0, bytes = 0, small = 0;
    std::int64_t max = 0;
    std::int64_t ns = 0;
  };
  struct StopSum {
    std::uint64_t stops = 0;
    std::int64_t held = 0;
  };

  Inside take_inside(CallRow call);
  CallSum& sum_within(CallRow parent, ThreadRow thread, FunctionRow function, std::int64_t ns, std::int64_t cost);
  Net nested(const Lane& lane, const Measured& call);
  void count(const Lane& lane, const Measured& call, std::int64_t ns) {
    auto& [second, total] = *lane.all;
    if (second.sec != call.sec) begin_second(lane.function, second, call.sec, call.call);
    ++second.n;
    second.total += ns;
    second.first_call = std::min(second.first_call, call.call);
    ++total.calls;
    total.errors += call.failed;
    total.tapped += call.tapped;
    total.total_ns += ns;
  }
  void begin_second(FunctionRow function, Second& second, std::int64_t sec, CallRow call);
  void write_second(FunctionRow function, Second& second);
  void flush_calls();

  RecentMap<StatKey, CallSum, Hash> calls_;
  std::unordered_map<CallRow, Inside> inside_;  // by outer call
  RecentMap<FunctionRow, OfFunction> functions_;
  RecentMap<PairKey<KernelRow, GeometryRow>, LaunchSum, Hash> launches_;
  RecentMap<PairKey<ProcessRow, FunctionRow>, CopySum, Hash> copies_;
  std::unordered_map<PairKey<SessionRow, FunctionRow>, StopSum, Hash> stops_;
  bool has_timeline_ = true;
  CostOfCalls cost_;
  Write stat_, second_, launch_, copy_, stop_;
};

}  // namespace fade::store
