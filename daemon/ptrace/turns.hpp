// Takes stops so that every thread gets its turn. Of several stopped threads wait(2) reports the same one first: the first child,
// then whoever was traced last. One of those that calls again and again is stopped again before the tracer asks, and the others
// would wait for as long as it does.
//
// A turn is a number of stops. At its end some of all threads are asked by name, then some of those that have stopped lately, going round among
// both. Who has stopped is asked first for a turn of his own. Not stop by stop: threads that wait cost nothing, and the one
// that runs stays on the tracer's CPU.
#pragma once
#include <cstdint>
#include <deque>
#include <set>
#include <unordered_map>

#include "ptrace/tracer.hpp"

namespace fade {

class Turns {
 public:
  static constexpr int kStops = 64;  // of a turn

  explicit Turns(const Tracer& tracer) : tracer_(tracer) {}

  // Threads that may stop. Others are seen only when the kernel reports them by itself.
  void came(pid_t tid) { threads_.insert(tid); }
  void went(pid_t tid) {
    threads_.erase(tid);
    if (stopped_since_.erase(tid) > 0) std::erase(lately_, tid);
  }

  // As Tracer::next().
  Stop next();

  std::size_t remembered() const { return lately_.size(); }  // threads that stopped lately

 private:
  Stop next_of_turn();
  Stop next_turn();
  Stop one_of_all();
  Stop one_of_lately();
  Stop ask(pid_t tid);
  void seen(pid_t tid);

  const Tracer& tracer_;
  std::set<pid_t> threads_;
  pid_t asked_last_ = 0;               // of all threads
  std::deque<pid_t> lately_;           // who has stopped lately, the next one to be asked in front
  std::unordered_map<pid_t, bool> stopped_since_;  // of each of them: since it was asked
  pid_t first_ = 0;                    // whose turn it is; 0: nobody's
  pid_t last_ = 0;                     // who stopped last
  int misses_ = 0;                     // of first_, in a row
  int stops_ = 0;                      // of this turn
};

}  // namespace fade
