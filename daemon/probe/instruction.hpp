// One decoded x86-64 instruction: the facts needed to move it. Hides the version of Zydis that decodes it.
#pragma once
#include <cstdint>
#include <optional>
#include <span>

namespace fade {

constexpr std::uint8_t kInt3 = 0xCC;  // the one-byte breakpoint instruction

struct Instruction {
  enum class Map : std::uint8_t { OneByte, TwoByte0F, Other };

  std::uint8_t length = 0;
  Map map = Map::Other;
  std::uint8_t opcode = 0;
  bool operand_size_prefix = false;
  bool has_modrm = false;
  std::uint8_t modrm_offset = 0, modrm_reg = 0;
  bool rip_relative = false;  // memory operand at disp32(%rip)
  std::uint8_t displacement_offset = 0;
  std::int64_t displacement = 0;
  bool relative_branch = false;    // immediate is relative to the end of the instruction
  std::uint8_t branch_offset = 0;  // offset of that immediate
  std::int64_t branch = 0;
};

// Returns nullopt if `bytes` are not an instruction, or end within it.
std::optional<Instruction> decode_instruction(std::span<const std::uint8_t> bytes);

}  // namespace fade
