// A jump at the entry of a function instead of an int3: to a pad, whose int3 a thread meets with the return address in a
// register and goes on from by itself. The tracer need neither read the stack nor set the instruction pointer. Pure; knows no
// process.
//
// Five bytes are too many to be written under a thread that stands among them: only where none can have come yet, and none comes
// but by the first of them. It stands behind the function's first instruction, which is left alone: a uprobe (perf, bpftrace) is put
// there, and executes what the file says.
#pragma once
#include <array>
#include <optional>
#include <unordered_set>

#include "probe/relocate.hpp"

namespace fade {

constexpr std::array<std::uint8_t, 4> kEndbr64{0xF3, 0x0F, 0x1E, 0xFA};
constexpr std::uint64_t kJumpSize = 5;

// The first instruction of a function, an endbr64 or the push of a register, and how far it moves the stack pointer.
struct EntryLead {
  std::uint8_t length = 0, depth = 0;
};
std::optional<EntryLead> entry_lead(std::span<const std::uint8_t> function);
constexpr std::uint8_t kLeads[] = {1, 2, 4};  // lengths

// How many bytes of whole instructions a jump covers, `bytes` standing behind the lead. nullopt: they are no prologue, which moves the stack
// pointer first and touches nothing but registers and the stack.
std::optional<std::uint8_t> entry_jump_length(std::span<const std::uint8_t> bytes, EntryLead lead);

// Where further instructions begin among the bytes that a jump there is written over, counted from its first one. A branch that leads
// there would meet half of it. Elsewhere in them none leads: they would be other instructions then than those that callers of the function execute.
std::vector<std::uint8_t> starts_under_jump(std::span<const std::uint8_t> bytes);

// Which of `wanted` a branch in `code`, which stands at `at`, may lead to. Every byte is taken for the beginning of an instruction: so
// none is missed, and some are found that are none.
std::unordered_set<RemoteAddr> branched_to(std::span<const std::uint8_t> code, RemoteAddr at, const std::unordered_set<RemoteAddr>& wanted);

// The code of the slot: these instructions, and the way to what follows them. Refuses where entry_jump_length() does.
Result<RelocatedInstruction> relocate_entry(std::span<const std::uint8_t> bytes, RemoteAddr site, RemoteAddr slot);

std::array<std::uint8_t, kJumpSize> jump_code(RemoteAddr from, RemoteAddr to);

// Code that leaves every register and flag as it was: %r11 waits below the stack pointer, where a called function may write.
struct EntryPad {
  static constexpr std::size_t kDepthAt = 9, kTrapAt = 10, kSize = 21;
  static constexpr std::size_t kSwapped = kTrapAt, kSwappedBack = 16;  // from here to there %r11 is the return address
  static constexpr std::uint64_t kKept = 8;                            // %r11 itself is so far below the stack pointer

  // `depth`: of the return address below the stack pointer's place at the entry.
  static std::array<std::uint8_t, kSize> code(RemoteAddr pad, RemoteAddr slot, std::uint8_t depth);
};

}  // namespace fade
