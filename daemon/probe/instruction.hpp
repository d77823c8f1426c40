// One decoded x86-64 instruction, as far as moving it elsewhere needs. Hides which version of Zydis decodes it.
#pragma once
#include <cstdint>
#include <optional>
#include <span>

namespace fade {

struct Instruction {
  enum class Map : std::uint8_t { OneByte, TwoByte0F, Other };

  std::uint8_t length = 0;
  Map map = Map::Other;
  std::uint8_t opcode = 0;
  bool operand_size_prefix = false;
  bool has_modrm = false;
  std::uint8_t modrm_offset = 0, modrm_reg = 0;
  bool rip_relative = false;       // memory operand at disp32(%rip)
  std::uint8_t displacement_offset = 0;
  std::int64_t displacement = 0;
  bool relative_branch = false;    // immediate counts from the end of the instruction
  std::uint8_t branch_offset = 0;  // where that immediate stands
  std::int64_t branch = 0;
};

// nullopt: not an instruction, or cut short by the end of `bytes`.
std::optional<Instruction> decode_instruction(std::span<const std::uint8_t> bytes);

}  // namespace fade
