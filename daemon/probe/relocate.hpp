// Moves one instruction to another place: the code of a slot. Pure; knows no process.
//
// The slot does the same as the instruction at its old address and continues after it. A call pushes the original
// return address, so that no return address ever points into a slot. Flags and registers are left alone.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/remote.hpp"
#include "base/result.hpp"

namespace fade {

constexpr std::size_t kSlotSize = 64;  // no relocated instruction is longer

struct RelocatedInstruction {
  std::vector<std::uint8_t> code;  // for exactly the requested address
  std::uint8_t length = 0;         // of the original
};

// `bytes`: the code at `site`, up to 16 bytes. Returns an Error with the reason if the instruction cannot be moved.
Result<RelocatedInstruction> relocate(std::span<const std::uint8_t> bytes, RemoteAddr site, RemoteAddr slot);

// One instruction that is no branch, for the address `to`; an operand relative to its address stays the same one.
// `bytes`: the instruction at `from`, and perhaps more. nullopt: the operand is too far from `to`.
std::optional<std::vector<std::uint8_t>> moved_instruction(std::span<const std::uint8_t> bytes, RemoteAddr from,
                                                           RemoteAddr to);

}  // namespace fade
