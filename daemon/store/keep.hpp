#pragma once

namespace fade::store {

// The kinds of data that are still written. The size limit takes from them.
struct Keep {
  bool calls = true;     // rows of calls, copies and arguments
  bool allocs = true;    // rows of allocations
  bool sums = true;      // rollups, errors, properties; without them only ends and moments of trouble are recorded
  bool timeline = true;  // sums by seconds and milliseconds, samples of CPU time and of lines
};

}  // namespace fade::store
