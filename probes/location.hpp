#pragma once
#include <cstdint>

namespace fade::probes {

// The place of a by-value parameter in the calling convention (System V x86-64 ABI, 3.2.3).
struct Location {
  enum class Where : std::uint8_t { Integer, Sse, Stack };
  Where where = Where::Integer;
  std::uint8_t first =
      0;  // integer register 0..5 (rdi rsi rdx rcx r8 r9), xmm number, or 8-byte word on the stack ([rsp+8] is 0)
  std::uint8_t words = 1;  // number of eightbytes
};

}  // namespace fade::probes
