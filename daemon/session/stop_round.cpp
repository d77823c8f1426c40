#include "session/stop_round.hpp"

#include <utility>

#include "base/clock.hpp"

namespace fade {
namespace {

// More only while no thread stops: each waits for the threads before it.
constexpr std::size_t kFirst = 4, kGrowth = 4, kMost = 4096;
constexpr std::int64_t kWaited = 20'000;  // a thread with a stop that was waited for that long was not stopped before

}  // namespace

StopRound::StopRound(Turns& turns, std::function<bool(Tid)> ask)
    : turns_(turns), ask_(std::move(ask)), at_once_(kFirst), progress_(boottime_ns()) {}

void StopRound::ask_more() {
  while (asked_.size() < at_once_ && !left_.empty()) {
    const Tid tid = left_.back();
    left_.pop_back();
    if (ask_(tid)) asked_[tid] = boottime_ns();
  }
}

std::optional<Stop> StopRound::next(std::chrono::nanoseconds patience) {
  // Any other stop takes the request away.
  if (const Tid again = std::exchange(last_, Tid()); asked_.contains(again) && !ask_(again)) asked_.erase(again);
  for (;;) {
    ask_more();
    const std::int64_t before = boottime_ns();
    if (asked_.empty() || before - progress_ > patience.count()) return std::nullopt;
    const Stop stop = turns_.next();
    if (stop.kind == Stop::Kind::Gone) return std::nullopt;
    if (stop.kind != Stop::Kind::None) {
      came_ = boottime_ns();
      last_ = stop.tid;
      if (const auto it = asked_.find(stop.tid); it != asked_.end() && came_ - before > kWaited) it->second = came_;
      return stop;
    }
    at_once_ = std::min(at_once_ * kGrowth, kMost);
    std::erase_if(asked_, [&](const auto& item) { return !ask_(item.first); });  // some end without a word
  }
}

std::int64_t StopRound::held(Tid tid) const {
  const auto it = asked_.find(tid);
  return boottime_ns() - (it == asked_.end() ? came_ : it->second);
}

void StopRound::done(Tid tid) {
  asked_.erase(tid);
  progress_ = boottime_ns();
}

std::vector<Tid> StopRound::rest() const {
  std::vector<Tid> out = left_;
  for (const auto& [tid, since] : asked_) out.push_back(tid);
  return out;
}

}  // namespace fade
