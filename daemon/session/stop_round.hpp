// Stops many threads, a few at a time, and takes them as they come: a thread that waits for a processor does not delay
// the rest, and none is stopped for long. Tracing thread only.
#pragma once
#include <chrono>
#include <functional>
#include <optional>
#include <unordered_map>
#include <vector>

#include "base/pid.hpp"
#include "ptrace/turns.hpp"

namespace fade {

class StopRound {
 public:
  // `ask` has a thread stop. False: it has ended.
  StopRound(Turns& turns, std::function<bool(Tid)> ask);

  void add(Tid tid) { left_.push_back(tid); }
  // The next stop of any tracee, for the caller to handle; done() if that thread was asked for. nullopt: no thread is
  // left, or none of them has stopped for `patience`.
  std::optional<Stop> next(std::chrono::nanoseconds patience);
  bool has(Tid tid) const { return asked_.contains(tid); }
  // Returns for how long the thread has been stopped, in nanoseconds, as far as known. A thread that stopped before the
  // request counts from its report.
  std::int64_t held(Tid tid) const;
  void done(Tid tid);
  std::vector<Tid> rest() const;

 private:
  void ask_more();

  Turns& turns_;
  const std::function<bool(Tid)> ask_;
  std::vector<Tid> left_;
  std::unordered_map<Tid, std::int64_t> asked_;  // since when it may stand still
  Tid last_ = 0;                                 // the thread of the stop that was returned last
  std::size_t at_once_;
  std::int64_t progress_, came_ = 0;  // came_: the last stop
};

}  // namespace fade
