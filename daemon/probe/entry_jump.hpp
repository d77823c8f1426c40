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

#include "base/remote.hpp"
#include "probe/relocate.hpp"
#include "ptrace/registers.hpp"

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

// Code that leaves every register and flag as it was. At its int3 the return address stands in %r11 and, of a function that takes two
// words of arguments on the stack, these in %rax and %r10: registers that carry nothing into a C function. Meanwhile what was in them waits
// below the stack pointer, where a called function may write.
struct EntryPad {
  std::uint8_t depth = 0;  // of the return address below the stack pointer's place at the entry
  bool with_words = false;

  static constexpr std::uint8_t kWords = 2;
  static constexpr std::size_t kMostCode = 51;

  std::size_t trap_at() const { return with_words ? 30 : 10; }  // where its int3 stands
  // Where it begins to load; what was in the registers can be read in memory from here on.
  std::size_t kept_at() const { return with_words ? 15 : 5; }
  std::vector<std::uint8_t> code(RemoteAddr pad, RemoteAddr slot) const;
  // The pad whose code `code` may be; what it returns says what there would have to be.
  static EntryPad like(std::span<const std::uint8_t, kMostCode> code);

  // What the int3 shows of a thread that stands there: the return address, and the words if it has them.
  std::span<const std::uint64_t> shown(const Registers& registers, std::array<std::uint64_t, 1 + kWords>& into) const;
  // Puts back what was in the registers before. False: it cannot be read.
  bool restore(Registers& registers, const Memory& memory) const;
};

}  // namespace fade
