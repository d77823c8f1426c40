// The order in which threads are asked whether they have stopped. It gives all of them alike many stops. Pure: knows
// no processes.
//
// Threads that stop all the time stand in a ring, each with a turn of kStops stops. The first kServed of the ring
// are served until their turns are used up; then they go to its end. Few threads at a time stay in the caches of the
// processor. A stop out of turn counts as well, so its thread loses a later turn.
//
// The other threads are idle. One of them is asked now and then; if it has stopped, its turn begins at once.
#pragma once
#include <sys/types.h>

#include <cstddef>
#include <functional>
#include <set>
#include <vector>

namespace fade {

class TurnOrder {
 public:
  static constexpr int kStops = 48;           // of a turn
  static constexpr std::size_t kServed = 8;   // threads whose turn it is
  static constexpr std::size_t kFurther = 4;  // asked where none of these has stopped
  static constexpr int kBetweenIdle = 8;      // choices from one idle thread that is asked to the next
  // Choices in a row at which a thread whose turn it is was not seen stopped. After kEager of them it is asked at
  // each kSeldom-th only, after kMisses its turn is over: a thread may wait some milliseconds for a processor.
  static constexpr int kEager = 8, kSeldom = 8, kMisses = 64;

  void came(pid_t tid);
  void went(pid_t tid);

  // Asks one thread after the other until one has stopped, and returns that one. 0: none of those that were asked
  // has. At most kServed + kFurther + 1 are asked.
  pid_t choose(const std::function<bool(pid_t)>& has_stopped);
  // A stop that was reported unasked. Threads that did not come are left out.
  void stopped(pid_t tid);

  std::size_t remembered() const { return ring_.size(); }  // threads that stopped lately

 private:
  struct Turn {
    pid_t tid = 0;
    int left = kStops;         // stops; negative: those that were handled out of turn
    int misses = 0;            // in a row, or choices at which it was not asked
    bool has_stopped = true;   // since it came to the end of the ring
  };
  using Place = std::vector<Turn>::iterator;

  Place find(pid_t tid);
  pid_t ask_idle(const std::function<bool(pid_t)>& has_stopped);
  pid_t ask_served(const std::function<bool(pid_t)>& has_stopped);
  pid_t ask_further(const std::function<bool(pid_t)>& has_stopped);
  static pid_t charge(Turn& turn);
  void to_the_end(Place place);
  void pass_over_debtors();
  void retire(std::size_t index);

  std::vector<Turn> ring_;
  std::set<pid_t> idle_;
  pid_t last_ = 0;            // that stopped last: it has only just been resumed
  pid_t last_idle_ = 0;       // that was asked
  std::size_t further_ = 0;   // of the ring behind those that are served: the next one to be asked
  int choices_ = 0;           // since an idle thread was asked
};

}  // namespace fade
