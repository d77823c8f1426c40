#include "store/rollups.hpp"

#include <algorithm>
#include <limits>

namespace fade::store {
namespace {

// kept beyond a flush; everything is a difference, so forgetting costs nothing
constexpr std::size_t kMostRollups = 16'384;
constexpr std::int64_t kSmallCopy = 64 << 10;

template <class Map>
void forget_if_large(Map& map) {
  if (map.size() > kMostRollups) map.clear();
}

}  // namespace

void CallSum::add(const CallSum& other) {
  if (other.n == 0) return;
  if (other.timed > 0) min = timed == 0 ? other.min : std::min(min, other.min);
  max = std::max(max, other.max);
  n += other.n;
  timed += other.timed;
  errors += other.errors;
  leaves += other.leaves;
  total += other.total;
  self += other.self;
  cost += other.cost;
  tapped += other.tapped;
  counted += other.counted;
  histogram.add(other.histogram);
}

std::int64_t CallSum::add_tapped(std::span<const SummedCall> calls, std::int64_t cost_ns) {
  std::int64_t sum = 0, least = std::numeric_limits<std::int64_t>::max(), most = max;
  for (const SummedCall& call : calls) {
    const std::int64_t ns = call.ns - cost_ns;
    sum += ns;
    least = std::min(least, ns);
    most = std::max(most, ns);
    histogram.add(std::max<std::int64_t>(0, ns));
  }
  min = timed == 0 ? least : std::min(min, least);
  max = most;
  const std::uint64_t n_calls = calls.size();
  cost += cost_ns * static_cast<std::int64_t>(n_calls);
  for (std::uint64_t* const count : {&n, &timed, &leaves, &tapped}) *count += n_calls;
  for (std::int64_t* const time : {&total, &self}) *time += sum;
  return sum;
}

Rollups::Rollups(sqlite::Db& db, Failure& failure)
    : stat_(db, failure,
            "INSERT INTO call_stat_ VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14) ON CONFLICT DO UPDATE SET "
            "n = "
            "n + "
            "excluded.n, "
            "errors = errors + excluded.errors, total = total + excluded.total, self = self + excluded.self, "
            "min = coalesce(min(min, excluded.min), min, excluded.min), max = coalesce(max(max, excluded.max), max, "
            "excluded.max), "
            "hist = hist_merge(hist, excluded.hist), leaves = leaves + excluded.leaves, cost = cost + excluded.cost, "
            "tapped = tapped + excluded.tapped, counted = counted + excluded.counted"),
      second_(db, failure,
              "INSERT INTO call_bucket_ VALUES (?1,?2,?3,?4,?5) ON CONFLICT DO UPDATE SET n = n + excluded.n, "
              "total = total + excluded.total, first_call = min(first_call, excluded.first_call)"),
      launch_(db, failure,
              "INSERT INTO kernel_stat_ VALUES (?1,?2,?3,?4,?5,?6,?7,?8) ON CONFLICT DO UPDATE SET n = n + excluded.n, "
              "errors = errors + excluded.errors, launch_ns = launch_ns + excluded.launch_ns, max_ns = max(max_ns, "
              "excluded.max_ns), "
              "first_ts = min(first_ts, excluded.first_ts), last_ts = max(last_ts, excluded.last_ts)"),
      copy_(db, failure,
            "INSERT INTO copy_stat_ VALUES (?1,?2,?3,?4,?5,?6,?7,?8) ON CONFLICT DO UPDATE SET n = n + excluded.n, "
            "bytes = bytes + excluded.bytes, max_bytes = max(max_bytes, excluded.max_bytes), small = small + "
            "excluded.small, "
            "host_ns = host_ns + excluded.host_ns"),
      stop_(db, failure,
            "INSERT INTO overhead_ VALUES (?1,?2,?3,?4) ON CONFLICT DO UPDATE SET stops = stops + excluded.stops, "
            "held_ns = held_ns + excluded.held_ns") {}

CallSum& Rollups::sum_within(CallRow parent, ThreadRow thread, FunctionRow function, std::int64_t ns,
                             std::int64_t cost) {
  Inside& inside = inside_[parent];
  inside.thread = thread;
  inside.ns += ns;
  inside.cost += cost;
  for (auto& [known, sum] : inside.by_function)
    if (known == function) return sum;
  return inside.by_function.emplace_back(function, CallSum{}).second;
}

Rollups::Inside Rollups::take_inside(CallRow call) {
  auto node = inside_.extract(call);
  return node ? std::move(node.mapped()) : Inside{};
}

Rollups::Net Rollups::nested(const Lane& lane, const Measured& call) {
  const Inside inside = take_inside(call.call);
  const std::int64_t own = cost_.within(call.tapped);
  const std::int64_t cost = inside.cost + (call.raw_ns ? own : 0), ns = call.raw_ns ? *call.raw_ns - cost : 0;
  count(lane, call, ns);
  CallSum& sum = call.parent == 0 ? *lane.from_outside
                                  : sum_within(call.parent, lane.thread, lane.function, ns,
                                               cost + cost_.around(call.held_ns, call.tapped));
  const std::int64_t self = cost_.call_ns == 0 ? std::max<std::int64_t>(0, ns - inside.ns) : ns - inside.ns;
  sum.add(ns, self, call.raw_ns ? cost : 0, call.failed, inside.by_function.empty(), call.tapped);
  for (const auto& [callee, calls] : inside.by_function) calls_[{lane.thread, callee, lane.function}].add(calls);
  return {ns, self};
}

std::int64_t Rollups::summed(const Lane& lane, CallRow first, std::int64_t sec, std::span<const SummedCall> calls) {
  const std::int64_t ns = lane.from_outside->add_tapped(calls, cost_.within(true));
  auto& [second, total] = *lane.all;
  if (second.sec != sec) begin_second(lane.function, second, sec, first);
  second.n += calls.size();
  second.total += ns;
  second.first_call = std::min(second.first_call, first);
  total.calls += calls.size();
  total.tapped += calls.size();
  total.total_ns += ns;
  return ns;
}

void Rollups::untimed(const Lane& lane, const Measured& call) {
  count(lane, {.call = call.call, .sec = call.sec}, 0);
  ++lane.all->total.untimed;
  const std::int64_t cost = cost_.call_ns == 0 ? 0 : call.held_ns + cost_.stop_ns;  // one stop
  CallSum& sum = call.parent == 0 ? *lane.from_outside : sum_within(call.parent, lane.thread, lane.function, 0, cost);
  sum.add_untimed(true);
}

void Rollups::counted(const Lane& lane, std::int64_t sec, CallRow last, std::uint64_t calls) {
  auto& [second, total] = *lane.all;
  if (second.sec != sec) begin_second(lane.function, second, sec, last);
  second.n += calls;
  total.calls += calls;
  total.untimed += calls;
  lane.from_outside->add_counted(calls);
}

void Rollups::begin_second(FunctionRow function, Second& second, std::int64_t sec, CallRow call) {
  write_second(function, second);
  second.sec = sec;
  second.first_call = call;
}

void Rollups::write_second(FunctionRow function, Second& second) {
  if (second.n > 0 && has_timeline_) second_(second.sec, function, second.n, second.total, second.first_call);
  second = Second{};
}

void Rollups::copy(ProcessRow process, FunctionRow function, std::int64_t kind, std::int64_t bytes, std::int64_t ns,
                   std::uint64_t copies) {
  CopySum& sum = copies_[{process, function, kind}];
  sum.n += copies;
  sum.bytes += static_cast<std::uint64_t>(bytes) * copies;
  sum.max = std::max(sum.max, bytes);
  sum.small += bytes < kSmallCopy ? copies : 0;
  sum.ns += ns;
}

void Rollups::stops(SessionRow session, FunctionRow function, std::uint64_t stops, std::int64_t held_ns) {
  StopSum& sum = stops_[{session, function, 0}];
  sum.stops += stops;
  sum.held += held_ns;
}

void Rollups::flush_calls() {
  for (auto& [key, sum] : calls_) {
    if (sum.n == 0) continue;
    const std::vector<std::byte> histogram = sum.histogram.encode();
    const auto known = [&sum = sum](std::int64_t ns) { return sum.timed == 0 ? std::nullopt : std::optional(ns); };
    stat_(key.thread, key.function, key.parent, sum.n, sum.errors, sum.total, sum.self, known(sum.min), known(sum.max),
          std::span<const std::byte>(histogram), sum.leaves, sum.cost, sum.tapped, sum.counted);
    sum = CallSum{};
  }
  forget_if_large(calls_);
}

void Rollups::flush() {
  flush_calls();
  for (auto& [function, sums] : functions_) write_second(function, sums.second);
  for (const auto& [key, sum] : launches_)
    if (sum.n > 0) launch_(key.first, key.second, sum.n, sum.errors, sum.ns, sum.max, sum.first, sum.last);
  for (const auto& [key, sum] : copies_)
    copy_(key.first, key.second, key.third, sum.n, sum.bytes, sum.max, sum.small, sum.ns);
  for (const auto& [key, sum] : stops_) stop_(key.first, key.second, sum.stops, sum.held);
  launches_.clear();
  copies_.clear();
  stops_.clear();
}

void Rollups::end_timeline() {
  for (auto& [function, sums] : functions_) write_second(function, sums.second);
  has_timeline_ = false;
}

std::vector<std::pair<FunctionRow, FunctionTotal>> Rollups::totals() const {
  std::vector<std::pair<FunctionRow, FunctionTotal>> out;
  for (const auto& [function, sums] : functions_.all()) out.emplace_back(function, sums.total);
  return out;
}

void Rollups::finish() {
  for (const auto& [call, inside] : inside_)
    for (const auto& [function, sum] : inside.by_function) calls_[{inside.thread, function, 0}].add(sum);
  inside_.clear();
  flush();
}

}  // namespace fade::store
