// The cost of a tapped call on this machine. Measured with an empty function of this process.
#pragma once
#include <cstdint>

#include "base/measured.hpp"
#include "base/result.hpp"

namespace fade::tap {

struct TapCost {
  std::uint32_t calls = 0;  // number of measured calls
  Measured within;          // recorded duration of an empty function
  Measured call;            // what a tap adds to a call
  Measured gate;            // what a gate adds to a call that it only counts
};

// Takes about a millisecond. Any thread. Returns an Error if this process may not map executable memory.
Result<TapCost> measure_tap();

}  // namespace fade::tap
