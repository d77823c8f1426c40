#include "supervisor/call_cost.hpp"

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
          .problem = {}};
}

}  // namespace

std::int64_t measure_tap_cost(EventSink& sink) {
  const auto cost = tap::measure_tap();
  if (!cost) {
    sink.notice(CostMeasured{.form = "tap", .problem = cost.error().text()});
    return 0;
  }
  sink.notice(CostMeasured{.form = "tap",
                           .calls = cost->calls,
                           .call_ns = cost->within.median,
                           .call_spread_ns = cost->within.spread,
                           .stop_ns = cost->call.median,
                           .stop_spread_ns = cost->call.spread,
                           .problem = {}});
  return cost->call.median;
}

CostOfStops measure_call_cost(const Tracer& tracer, EventSink& sink) {
  const auto costs = measure_stops(tracer);
  if (!costs) {
    sink.notice(CostMeasured{.form = "jump", .problem = costs.error().sentence()});
    return {};
  }
  sink.notice(told("jump", costs->jump));
  sink.notice(told("int3", costs->int3));
  if (costs->apart.calls == 0) return {costs->jump.stop.median, costs->jump.stop.median};
  sink.notice(told("apart", costs->apart));
  return {costs->jump.stop.median, costs->apart.stop.median};
}

}  // namespace fade
