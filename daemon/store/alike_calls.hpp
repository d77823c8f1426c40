// Calls of one lane (SummedLane) that follow each other: alike but for their times. Passive.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/call_batch.hpp"
#include "store/row_ids.hpp"

namespace fade::store {

struct AlikeCalls {
  std::span<const SummedCall> calls;
  CallRow first = 0;         // the row of the first of them
  std::int64_t cost_ns = 0;  // fade's own, in each

  std::int64_t ns_of(std::size_t index) const { return calls[index].ns - cost_ns; }
  std::int64_t ns() const {  // of all of them
    std::int64_t out = 0;
    for (std::size_t i = 0; i < calls.size(); ++i) out += ns_of(i);
    return out;
  }
  AlikeCalls without_first() const {
    AlikeCalls out{calls.subspan(1), first, cost_ns};
    ++out.first;
    return out;
  }
};

}  // namespace fade::store
