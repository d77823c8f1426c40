// Moves one instruction to another place: the code of a slot. Pure; knows no process.
//
// The slot does what the instruction did at its old address and goes on behind it. A call pushes the original return
// address, so that no return address ever points into a slot. Flags and registers are left alone.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "base/remote.hpp"
#include "base/result.hpp"

namespace fade {

constexpr std::size_t kSlotSize = 64;  // no relocated instruction is longer

struct RelocatedInstruction {
  std::vector<std::uint8_t> code;  // for exactly the address it was asked for
  std::uint8_t length = 0;         // of the original
};

// `bytes`: what stands at `site`, up to 16 bytes. Refuses what cannot be moved, with the reason.
Result<RelocatedInstruction> relocate(std::span<const std::uint8_t> bytes, RemoteAddr site, RemoteAddr slot);

}  // namespace fade
