// The order in which threads are asked for a stop. All threads get the same share of stops. Pure: knows no processes.
//
// Threads that stop all the time form a ring, each with a turn of kStops stops. The first kServed of the ring are
// served until their turns are used up; then they move to its end. A small number of served threads stays in the caches
// of the processor. A stop out of turn counts as well, so its thread loses a later turn.
//
// All other threads are idle. From time to time one idle thread is asked; if it has stopped, its turn begins at once.
#pragma once
#include <cstddef>
#include <functional>
#include <set>
#include <vector>

#include "base/pid.hpp"

namespace fade {

class TurnOrder {
 public:
  static constexpr int kStops = 48;           // of a turn
  static constexpr std::size_t kServed = 8;   // threads that have a turn
  static constexpr std::size_t kFurther = 4;  // asked if none of these has stopped
  static constexpr int kBetweenIdle = 8;      // choices between two questions to idle threads
  // Choices in a row at which a served thread had not stopped. After kEager misses the thread is asked only at every
  // kSeldom-th choice; after kMisses its turn ends. A thread may wait some milliseconds for a processor.
  static constexpr int kEager = 8, kSeldom = 8, kMisses = 64;

  void came(Tid tid);
  void went(Tid tid);

  // Asks threads in turn until one has stopped, and returns its tid. Returns 0 if none of the asked threads has
  // stopped. Asks at most kServed + kFurther + 1 threads.
  Tid choose(const std::function<bool(Tid)>& has_stopped);
  // Records a stop that was reported without a question. Threads without came() are ignored.
  void stopped(Tid tid);

  std::size_t remembered() const { return ring_.size(); }  // threads that stopped lately

 private:
  struct Turn {
    Tid tid = 0;
    int left = kStops;        // stops; negative: number of stops handled out of turn
    int misses = 0;           // in a row, counting choices without a question
    bool has_stopped = true;  // since it moved to the end of the ring
  };
  using Place = std::vector<Turn>::iterator;

  Place find(Tid tid);
  Tid ask_idle(const std::function<bool(Tid)>& has_stopped);
  Tid ask_served(const std::function<bool(Tid)>& has_stopped);
  Tid ask_further(const std::function<bool(Tid)>& has_stopped);
  static Tid charge(Turn& turn);
  void to_the_end(Place place);
  void pass_over_debtors();
  void retire(std::size_t index);

  std::vector<Turn> ring_;
  std::set<Tid> idle_;
  Tid last_ = 0;             // last stopped thread: it has only just been resumed
  Tid last_idle_ = 0;        // last idle thread that was asked
  std::size_t further_ = 0;  // index of the next thread to ask, in the ring behind the served threads
  int choices_ = 0;          // since the last question to an idle thread
};

}  // namespace fade
