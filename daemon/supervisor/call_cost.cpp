#include "supervisor/call_cost.hpp"

#include <algorithm>

#include "ptrace/stop_cost.hpp"
#include "tap/tap_cost.hpp"

namespace fade {
namespace {

CostMeasured told(const char* form, const StopCosts& costs) {
  return {.form = form,
          .calls = costs.calls,
          .call_ns = costs.call.median,
          .call_spread_ns = costs.call.spread,
          .stop_ns = costs.stop.median,
          .stop_spread_ns = costs.stop.spread,
          .run_ns = costs.run_ns,
          .problem = {}};
}

}  // namespace

CostOfTaps measure_tap_cost(EventSink& sink, bool with_gate) {
  const auto cost = tap::measure_tap();
  if (!cost) {
    sink.notice(CostMeasured{.form = "tap", .problem = cost.error().text()});
    return {};
  }
  sink.notice(CostMeasured{.form = "tap",
                           .calls = cost->calls,
                           .call_ns = cost->within.median,
                           .call_spread_ns = cost->within.spread,
                           .stop_ns = cost->call.median,
                           .stop_spread_ns = cost->call.spread,
                           .problem = {}});
  if (with_gate)
    sink.notice(CostMeasured{.form = "gate",
                             .calls = cost->calls,
                             .stop_ns = cost->gate.median,
                             .stop_spread_ns = cost->gate.spread,
                             .problem = {}});
  return {cost->call.median, std::max<std::int64_t>(cost->gate.median, 1)};
}

CostOfStops CostOfStops::as_seen(const StopTotals& seen) const {
  constexpr std::uint64_t kEnough = 20;
  if (run_ns == 0 || seen.sampled_stops < kEnough) return *this;
  const std::int64_t each = seen.sampled_ns / static_cast<std::int64_t>(seen.sampled_stops) + run_ns;
  return {each, each, run_ns};
}

CostOfStops measure_call_cost(const Tracer& tracer, EventSink& sink) {
  const auto costs = measure_stops(tracer);
  if (!costs) {
    sink.notice(CostMeasured{.form = "jump", .problem = costs.error().sentence()});
    return {};
  }
  sink.notice(told("jump", costs->jump));
  sink.notice(told("int3", costs->int3));
  const std::int64_t here = costs->jump.stop.median, run = costs->jump.run_ns;
  if (costs->apart.calls == 0) return {here, here, run};
  sink.notice(told("apart", costs->apart));
  return {here, costs->apart.stop.median, run};
}

}  // namespace fade
