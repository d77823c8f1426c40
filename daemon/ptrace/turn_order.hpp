// The order in which threads are asked for a stop. All threads get the same share of stops. Pure: knows no processes.
//
// Threads that stop all the time form a ring, each with a turn of kStops stops. The first kServed of the ring are
// served until their turns are used up; then they move to its end. A small number of served threads stays in the caches
// of the processor. A stop out of turn counts as well, so its thread loses a later turn.
//
// All other threads are idle. From time to time one idle thread is asked; if it has stopped, its turn begins at once.
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
  static constexpr std::size_t kServed = 8;   // threads that have a turn
  static constexpr std::size_t kFurther = 4;  // asked if none of these has stopped
  static constexpr int kBetweenIdle = 8;      // choices between two questions to idle threads
  // Choices in a row at which a served thread had not stopped. After kEager misses the thread is asked only at every
  // kSeldom-th choice; after kMisses its turn ends. A thread may wait some milliseconds for a processor.
  static constexpr int kEager = 8, kSeldom = 8, kMisses = 64;

  void came(pid_t tid);
  void went(pid_t tid);

  // Asks threads in turn until one has stopped, and returns its tid. Returns 0 if none of the asked threads has
  // stopped. Asks at most kServed + kFurther + 1 threads.
  pid_t choose(const std::function<bool(pid_t)>& has_stopped);
  // Records a stop that was reported without a question. Threads without came() are ignored.
  void stopped(pid_t tid);

  std::size_t remembered() const { return ring_.size(); }  // threads that stopped lately

 private:
  struct Turn {
    pid_t tid = 0;
    int left = kStops;        // stops; negative: number of stops handled out of turn
    int misses = 0;           // in a row, counting choices without a question
    bool has_stopped = true;  // since it moved to the end of the ring
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
  pid_t last_ = 0;           // last stopped thread: it has only just been resumed
  pid_t last_idle_ = 0;      // last idle thread that was asked
  std::size_t further_ = 0;  // index of the next thread to ask, in the ring behind the served threads
  int choices_ = 0;          // since the last question to an idle thread
};

}  // namespace fade
