#include "probe/instruction.hpp"

#include <Zydis/Zydis.h>

namespace fade {
namespace {

std::optional<ZydisDecodedInstruction> decode(std::span<const std::uint8_t> bytes) {
  ZydisDecoder decoder;
  ZydisDecodedInstruction out;
#ifdef FADE_ZYDIS_4
  ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
  const auto status = ZydisDecoderDecodeInstruction(&decoder, nullptr, bytes.data(), bytes.size(), &out);
#else
  ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_ADDRESS_WIDTH_64);
  const auto status = ZydisDecoderDecodeBuffer(&decoder, bytes.data(), bytes.size(), &out);
#endif
  if (!ZYAN_SUCCESS(status)) return std::nullopt;
  return out;
}

Instruction::Map map_of(const ZydisDecodedInstruction& z) {
  if (z.encoding != ZYDIS_INSTRUCTION_ENCODING_LEGACY) return Instruction::Map::Other;
  if (z.opcode_map == ZYDIS_OPCODE_MAP_DEFAULT) return Instruction::Map::OneByte;
  if (z.opcode_map == ZYDIS_OPCODE_MAP_0F) return Instruction::Map::TwoByte0F;
  return Instruction::Map::Other;
}

}  // namespace

std::optional<Instruction> decode_instruction(std::span<const std::uint8_t> bytes) {
  const auto z = decode(bytes);
  if (!z) return std::nullopt;
  Instruction out{.length = z->length, .map = map_of(*z), .opcode = z->opcode};
  out.operand_size_prefix = (z->attributes & ZYDIS_ATTRIB_HAS_OPERANDSIZE) != 0;
  out.has_modrm = (z->attributes & ZYDIS_ATTRIB_HAS_MODRM) != 0;
  if (out.has_modrm) {
    out.modrm_offset = z->raw.modrm.offset;
    out.modrm_reg = z->raw.modrm.reg;
    out.rip_relative = z->raw.modrm.mod == 0 && z->raw.modrm.rm == 5;
    out.displacement_offset = z->raw.disp.offset;
    out.displacement = z->raw.disp.value;
  }
  for (const auto& immediate : z->raw.imm) {
    if (!immediate.is_relative || immediate.size == 0) continue;
    out.relative_branch = true;
    out.branch_offset = immediate.offset;
    out.branch = immediate.value.s;
  }
  return out;
}

}  // namespace fade
