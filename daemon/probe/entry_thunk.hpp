// Functions that only hand on to another one, whose address is in a table. All functions of HSA are such thunks:
//   [endbr64]  mov table(%rip), %rax  jmp *offset(%rax)  [nop]
// If one of them takes a bool on the stack, it clears the upper bytes of that word first:
//   endbr64  movzbl at(%rsp), %eax  mov %eax, at(%rsp)  ...
// Compilers put the nops there; no thread executes them. Pure; knows no process.
#pragma once
#include <cstdint>
#include <optional>
#include <span>

namespace fade {

constexpr std::uint8_t kTableLoadSize = 7;

// mov table(%rip), %rax
bool is_table_load(std::span<const std::uint8_t> bytes);
// The number of bytes that a jump covers behind a table load that it leaves alone: those of `jmp *offset(%rax)`, and of
// nops up to the size of a jump.
std::optional<std::uint8_t> table_jump_length(std::span<const std::uint8_t> bytes);
// The number of bytes that a jump covers if `bytes` are a thunk without its endbr64: those of its first instruction.
std::optional<std::uint8_t> thunk_length(std::span<const std::uint8_t> bytes);

}  // namespace fade
