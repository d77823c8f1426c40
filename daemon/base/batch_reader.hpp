// A reader that follows a recording while it is made, beside the database.
#pragma once
#include "base/clock.hpp"
#include "base/event_queue.hpp"

namespace fade {

class BatchReader {
 public:
  virtual ~BatchReader() = default;
  // Called before the first batch, with the clock that all times count from.
  virtual void begins(const SessionClock& /*clock*/) {}
  // Called once per batch, in order, after the batch was handed to the database. Runs on the writer thread: if the
  // reader takes longer than the queue has room for, the program waits.
  virtual void read(const Batch& batch) = 0;
};

}  // namespace fade
