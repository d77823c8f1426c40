#include "probe/entry_jump.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "probe/instruction.hpp"

namespace fade {
namespace {

constexpr std::size_t kJumpSize = 5;
constexpr std::array<std::uint8_t, 4> kEndbr64{0xF3, 0x0F, 0x1E, 0xFA};

constexpr std::array<std::uint8_t, EntryPad::kSize> kPad{
    0x4C, 0x89, 0x5C, 0x24, 0xF8,  // mov %r11, -8(%rsp)
    0x4C, 0x8B, 0x1C, 0x24,        // mov (%rsp), %r11
    0xCC,                          // int3
    0x4C, 0x8B, 0x5C, 0x24, 0xF8,  // mov -8(%rsp), %r11
    0xE9, 0,    0,    0,    0,     // jmp to the slot
};
static_assert(kPad[EntryPad::kTrapAt] == 0xCC && kPad[EntryPad::kSwappedBack] == 0xE9 && EntryPad::kSize <= kSlotSize);

using Bytes = std::span<const std::uint8_t>;

bool is_legacy(const Instruction& in) { return in.map == Instruction::Map::OneByte && !in.operand_size_prefix; }

std::uint8_t modrm(const Instruction& in, Bytes bytes) { return bytes[in.modrm_offset]; }

// push of a register; sub of a number from %rsp
bool moves_stack(const Instruction& in, Bytes bytes) {
  if (!is_legacy(in)) return false;
  if (in.opcode >= 0x50 && in.opcode <= 0x57) return in.length <= 2;
  return (in.opcode == 0x81 || in.opcode == 0x83) && bytes[0] == 0x48 && modrm(in, bytes) == 0xEC;
}

// mov or xor between registers, mov of a number into one
bool stays_in_registers(const Instruction& in, Bytes bytes) {
  if (!is_legacy(in)) return false;
  if (in.opcode >= 0xB8 && in.opcode <= 0xBF) return true;
  const bool is_move = in.opcode == 0x89 || in.opcode == 0x8B || in.opcode == 0x31 || in.opcode == 0x33;
  return is_move && modrm(in, bytes) >= 0xC0;
}

bool is_endbr64(Bytes bytes) { return bytes.size() >= kEndbr64.size() && std::equal(kEndbr64.begin(), kEndbr64.end(), bytes.begin()); }

std::int32_t distance(RemoteAddr from, RemoteAddr to) { return static_cast<std::int32_t>(to.value - from.value); }

void append_jump(std::vector<std::uint8_t>& code, RemoteAddr from, RemoteAddr to) {
  const std::int32_t d = distance(from + kJumpSize, to);
  std::uint8_t bytes[4];
  std::memcpy(bytes, &d, sizeof d);
  code.push_back(0xE9);
  code.insert(code.end(), bytes, bytes + sizeof bytes);
}

}  // namespace

std::optional<std::uint8_t> entry_jump_length(Bytes bytes) {
  std::size_t length = 0;
  bool is_safe = false;  // as far as we are, were it the end
  while (length < kJumpSize) {
    const Bytes rest = bytes.subspan(length);
    const auto in = decode_instruction(rest);
    if (!in) return std::nullopt;
    const bool moves = moves_stack(*in, rest);
    if (!moves && !is_endbr64(rest) && !stays_in_registers(*in, rest)) return std::nullopt;
    is_safe = moves || length == 0;  // one instruction alone has no middle
    length += in->length;
  }
  if (!is_safe || length > 15) return std::nullopt;
  return static_cast<std::uint8_t>(length);
}

Result<RelocatedInstruction> relocate_entry(Bytes bytes, RemoteAddr site, RemoteAddr slot) {
  const auto length = entry_jump_length(bytes);
  if (!length) return fail(fmt::format("no jump has room at {:#x}", site.value));
  const auto covered = bytes.first(*length);
  RelocatedInstruction out{.code = {covered.begin(), covered.end()}, .length = *length};
  append_jump(out.code, slot + *length, site + *length);
  return out;
}

std::array<std::uint8_t, EntryPad::kSize> EntryPad::code(RemoteAddr pad, RemoteAddr slot) {
  auto out = kPad;
  const std::int32_t d = distance(pad + kSize, slot);
  std::memcpy(out.data() + kSwappedBack + 1, &d, sizeof d);
  return out;
}

}  // namespace fade
