// The code in front of a tap that lets only every Nth call of a thread through to it, or none, and counts the others.
// Nothing stops. Pure; knows no process.
//
// Each thread counts in its own ring, so no two threads write to one word. The word of a call that goes on without a
// record changes with the last instruction in front of the jump. So the counts are exact whenever the mask changes, and
// a thread that a signal meets in front of that instruction has not been counted.
#pragma once
#include <cstdint>
#include <vector>

#include "base/remote.hpp"

namespace fade::tap {

struct Gate {
  std::vector<std::uint8_t> code;
  RemoteAddr begin, counted, end;  // from `counted` on the call is counted, and goes on in the function
  RemoteAddr lets_through;         // from here on the call goes to the tap

  bool contains(RemoteAddr ip) const { return ip >= begin && ip < end; }
  bool has_counted(RemoteAddr ip) const { return ip >= counted && ip < lets_through; }
};

// The mask of a gate (DataLayout::kMasksAt) through which every `every`th call goes; a power of two.
constexpr std::uint32_t mask_of(std::uint32_t every) { return every - 1; }
constexpr std::uint32_t kCountsOnly = ~std::uint32_t{0};  // once in four thousand million calls one goes through

// Where the code of a gate leads to, and its data. A thread without a ring goes to the tap, which asks.
struct GateWays {
  RemoteAddr data;              // DataLayout
  std::uint64_t ring_size = 0;  // RingLayout::size of all rings
  RemoteAddr tap;
  RemoteAddr moved;  // the function
};
// `number`: of the gate. Uses %rax, %r10, %r11 and the flags, which carry nothing into a function.
Gate gate_code(std::uint16_t number, const GateWays& ways, RemoteAddr at);

}  // namespace fade::tap
