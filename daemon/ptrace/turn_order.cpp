#include "ptrace/turn_order.hpp"

#include <algorithm>
#include <utility>

namespace fade {
namespace {

constexpr int kMostDebt = 8 * TurnOrder::kStops;
constexpr int kMostKept = 4 * TurnOrder::kStops;

}  // namespace

void TurnOrder::came(Tid tid) {
  if (find(tid) == ring_.end()) idle_.insert(tid);
}

void TurnOrder::went(Tid tid) {
  if (idle_.erase(tid) > 0) return;
  if (const Place place = find(tid); place != ring_.end()) ring_.erase(place);
}

Tid TurnOrder::choose(const std::function<bool(Tid)>& has_stopped) {
  Tid found = ask_idle(has_stopped);
  if (ring_.size() > 1) {  // a single one needs no turns
    if (found == 0) found = ask_served(has_stopped);
    if (found == 0) found = ask_further(has_stopped);
  }
  if (found != 0) last_ = found;
  return found;
}

void TurnOrder::stopped(Tid tid) {
  last_ = tid;
  if (idle_.erase(tid) > 0) ring_.insert(ring_.begin(), {.tid = tid, .left = kStops - 1});
  else if (const Place place = find(tid); place != ring_.end()) charge(*place);
}

TurnOrder::Place TurnOrder::find(Tid tid) { return std::ranges::find(ring_, tid, &Turn::tid); }

Tid TurnOrder::charge(Turn& turn) {
  turn.left = std::max(turn.left - 1, -kMostDebt);
  turn.misses = 0;
  turn.has_stopped = true;
  return turn.tid;
}

Tid TurnOrder::ask_idle(const std::function<bool(Tid)>& has_stopped) {
  if (idle_.empty() || ++choices_ < kBetweenIdle) return 0;
  choices_ = 0;
  auto it = idle_.upper_bound(last_idle_);
  if (it == idle_.end()) it = idle_.begin();
  last_idle_ = *it;
  if (!has_stopped(last_idle_)) return 0;
  stopped(last_idle_);
  return last_idle_;
}

Tid TurnOrder::ask_served(const std::function<bool(Tid)>& has_stopped) {
  pass_over_debtors();
  std::size_t place = 0;
  for (std::size_t asked = 0; asked < std::min(kServed, ring_.size()); ++asked) {
    Turn& turn = ring_[place];
    const bool is_asked = turn.tid != last_ && (turn.misses < kEager || turn.misses % kSeldom == 0);
    if (is_asked && has_stopped(turn.tid)) return charge(turn);
    if (turn.tid != last_ && ++turn.misses == kMisses) retire(place);
    else ++place;
  }
  return 0;
}

// Each skipped turn pays for some of the debt, so the loop ends.
void TurnOrder::pass_over_debtors() {
  for (std::size_t i = 0; i < std::min(kServed, ring_.size());)
    if (ring_[i].left > 0) {
      ++i;
    } else {
      ring_[i].left += kStops;
      to_the_end(ring_.begin() + static_cast<std::ptrdiff_t>(i));
    }
}

void TurnOrder::to_the_end(Place place) { std::rotate(place, place + 1, ring_.end()); }

// Ends a turn. The thread keeps the rest for its next turn, because it may have waited for a processor. A thread that
// has not stopped in two turns is idle.
void TurnOrder::retire(std::size_t index) {
  const Place place = ring_.begin() + static_cast<std::ptrdiff_t>(index);
  if (!std::exchange(place->has_stopped, false)) {
    idle_.insert(place->tid);
    ring_.erase(place);
    return;
  }
  place->left = std::min(place->left + kStops, kMostKept);
  place->misses = 0;
  to_the_end(place);
}

Tid TurnOrder::ask_further(const std::function<bool(Tid)>& has_stopped) {
  const std::size_t others = ring_.size() - std::min(kServed, ring_.size());
  for (std::size_t i = 0; i < std::min(kFurther, others); ++i) {
    Turn& turn = ring_[kServed + further_++ % others];
    if (has_stopped(turn.tid)) return charge(turn);
  }
  return 0;
}

}  // namespace fade
