// What follows a recording while it is made, beside the database.
#pragma once
#include "base/clock.hpp"
#include "base/event_queue.hpp"

namespace fade {

class BatchReader {
 public:
  virtual ~BatchReader() = default;
  // Before the first batch: the clock that all times count from.
  virtual void begins(const SessionClock& /*clock*/) {}
  // Each batch once, in order, after it was handed to the database. Called on the writer thread: the program waits for a reader that takes
  // longer than the queue has room for.
  virtual void read(const Batch& batch) = 0;
};

}  // namespace fade
