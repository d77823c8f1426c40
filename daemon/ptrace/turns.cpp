#include "ptrace/turns.hpp"

#include <utility>

namespace fade {
namespace {

constexpr int kOfAll = 4, kOfLately = 3;  // asked at the end of a turn
constexpr int kMostMisses = 3;

}  // namespace

Stop Turns::next() {
  const bool is_over = threads_.size() > 1 && ++stops_ > kStops;
  Stop stop = is_over ? next_turn() : next_of_turn();
  if (stop.kind == Stop::Kind::None) stop = tracer_.next();
  if (stop.tid != last_ && threads_.contains(stop.tid)) seen(stop.tid);
  return stop;
}

Stop Turns::next_of_turn() {
  if (first_ == 0) return {};
  const Stop stop = tracer_.next_if_stopped(first_);
  misses_ = stop.kind == Stop::Kind::None ? misses_ + 1 : 0;
  if (misses_ == kMostMisses) first_ = 0;
  return stop;
}

Stop Turns::next_turn() {
  stops_ = 0;
  first_ = 0;
  for (int i = 0; i < kOfAll + kOfLately; ++i)
    if (const Stop stop = i < kOfAll ? one_of_all() : one_of_lately(); stop.kind != Stop::Kind::None) return stop;
  return {};
}

Stop Turns::one_of_all() {
  auto it = threads_.upper_bound(asked_last_);
  if (it == threads_.end()) it = threads_.begin();
  asked_last_ = *it;
  return ask(asked_last_);
}

// Who has not stopped since it was asked is forgotten until it stops again.
Stop Turns::one_of_lately() {
  if (lately_.empty()) return {};
  const pid_t tid = lately_.front();
  lately_.pop_front();
  const auto it = stopped_since_.find(tid);
  if (std::exchange(it->second, tid == last_) || tid == last_) lately_.push_back(tid);
  else stopped_since_.erase(it);
  return ask(tid);
}

// Not who has just had his turn: it has been resumed a moment ago.
Stop Turns::ask(pid_t tid) {
  if (tid == last_) return {};
  const Stop stop = tracer_.next_if_stopped(tid);
  if (stop.kind != Stop::Kind::None) first_ = tid;
  misses_ = 0;
  return stop;
}

void Turns::seen(pid_t tid) {
  last_ = tid;
  const auto [it, is_new] = stopped_since_.try_emplace(tid, true);
  it->second = true;
  if (is_new) lately_.push_back(tid);
}

}  // namespace fade
