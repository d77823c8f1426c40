// A jump at the entry of a function instead of an int3. It leads to a pad, whose int3 the thread meets with the return
// address in a register. The thread leaves the pad by itself: the tracer need neither read the stack nor set the
// instruction pointer. Pure; knows no process.
//
// Five bytes are too many to write under a thread that is among them. Therefore a jump is set only if no thread can be
// there yet, and if threads enter only at the first byte. The jump is behind the function's first instruction, which is
// left alone: a uprobe (perf, bpftrace) is put there, and executes the instruction of the file.
#pragma once
#include <array>
#include <optional>
#include <unordered_set>

#include "base/remote.hpp"
#include "probe/entry_thunk.hpp"
#include "probe/relocate.hpp"
#include "ptrace/registers.hpp"

namespace fade {

constexpr std::array<std::uint8_t, 4> kEndbr64{0xF3, 0x0F, 0x1E, 0xFA};
constexpr std::uint64_t kJumpSize = 5;
constexpr std::uint8_t kJumpOpcode = 0xE9;

// The first instruction of a function, and its change of the stack pointer: an endbr64, the push of a register, or the
// load of a table's address into %rax with which a thunk begins (entry_thunk.hpp).
struct EntryLead {
  std::uint8_t length = 0, depth = 0;

  // What goes on in front of the jump needs the lead once more, because a tap uses %rax, and takes a push back.
  bool is_repeated() const { return depth != 0 || loads_table(); }
  bool loads_table() const { return length == kTableLoadSize; }
};
std::optional<EntryLead> entry_lead(std::span<const std::uint8_t> function);
constexpr std::array<std::uint8_t, 4> kLeads{1, 2, 4, kTableLoadSize};  // lengths, ascending

// The number of bytes of whole instructions that a jump covers; `bytes` follow the lead. nullopt: the bytes are neither
// of a thunk nor of a prologue, which moves the stack pointer first and uses only registers and the stack.
std::optional<std::uint8_t> entry_jump_length(std::span<const std::uint8_t> bytes, EntryLead lead);

// The offsets of further instructions among the bytes that the jump overwrites, from its first byte. A branch to one of
// them would meet half a jump. No branch leads elsewhere among the bytes: it would execute other instructions than the
// callers of the function.
std::vector<std::uint8_t> starts_under_jump(std::span<const std::uint8_t> bytes);

// The addresses of `wanted` that a branch in `code` (at `at`) may lead to. Every byte is taken for the beginning of an
// instruction, so no branch is missed, and some are found that do not exist.
std::unordered_set<RemoteAddr> branched_to(std::span<const std::uint8_t> code, RemoteAddr at,
                                           const std::unordered_set<RemoteAddr>& wanted);

// The code of the slot: these instructions, and the jump to the next instruction. Refuses the same bytes as
// entry_jump_length().
Result<RelocatedInstruction> relocate_entry(std::span<const std::uint8_t> bytes, RemoteAddr site, RemoteAddr slot);

std::array<std::uint8_t, kJumpSize> jump_code(RemoteAddr from, RemoteAddr to);

// Code that leaves every register and flag unchanged. At its int3 %r11 holds the return address. If the function takes
// two words of arguments on the stack, %rax and %r10 hold these. None of these registers carries a value into a C
// function. Meanwhile their content is below the stack pointer, where a called function may write.
struct EntryPad {
  std::uint8_t depth = 0;  // of the return address below the stack pointer at the entry
  bool with_words = false;

  static constexpr std::uint8_t kWords = 2;
  static constexpr std::size_t kMostCode = 51;

  std::size_t trap_at() const { return with_words ? 30 : 10; }  // offset of its int3
  // Offset of the first load: from here on the registers' old content can be read in memory.
  std::size_t kept_at() const { return with_words ? 15 : 5; }
  std::vector<std::uint8_t> code(RemoteAddr pad, RemoteAddr slot) const;
  // The pad whose code `code` may be; compare `code` with the returned pad's code.
  static EntryPad like(std::span<const std::uint8_t, kMostCode> code);

  // The values that a thread shows at the int3: the return address, and the words if the pad has them.
  std::span<const std::uint64_t> shown(const Registers& registers, std::array<std::uint64_t, 1 + kWords>& into) const;
  // Restores the registers' old content. Returns false if it cannot be read.
  bool restore(Registers& registers, const Memory& memory) const;
};

}  // namespace fade
