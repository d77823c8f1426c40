#pragma once
#include <cstdint>

#include "probe/entry_sites.hpp"

namespace fade {

// A function of a loaded library whose calls are to be captured.
struct WatchedFunction {
  std::uint32_t entry = 0;  // an index of the function table
  FunctionEntry code;
};

}  // namespace fade
