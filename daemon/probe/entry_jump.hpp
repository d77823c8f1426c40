// A jump at the entry of a function instead of an int3: to a pad, whose int3 a thread meets with the return address in a
// register and goes on from by itself. The tracer need neither read the stack nor set the instruction pointer. Pure; knows no
// process.
//
// Five bytes are too many to be written under a thread that stands among them: only where none can have come yet.
#pragma once
#include <array>
#include <optional>

#include "probe/relocate.hpp"

namespace fade {

// How many bytes of whole instructions a jump at the entry of a function covers, `bytes` standing there. nullopt: one of them may
// fault or work in its old place alone, or a jump of the function may lead between them. None does where the last one moves the
// stack pointer: a function does that once.
std::optional<std::uint8_t> entry_jump_length(std::span<const std::uint8_t> bytes);

// The code of the slot: these instructions, and the way to what follows them. Refuses where entry_jump_length() does.
Result<RelocatedInstruction> relocate_entry(std::span<const std::uint8_t> bytes, RemoteAddr site, RemoteAddr slot);

// Code that leaves every register and flag as it was: %r11 waits below the stack pointer, where a called function may write.
struct EntryPad {
  static constexpr std::size_t kTrapAt = 9, kSize = 20;
  static constexpr std::size_t kSwapped = kTrapAt, kSwappedBack = 15;  // from here to there %r11 is the return address
  static constexpr std::uint64_t kKept = 8;                            // %r11 itself is so far below the stack pointer

  static std::array<std::uint8_t, kSize> code(RemoteAddr pad, RemoteAddr slot);
};

}  // namespace fade
