#include "probe/entry_thunk.hpp"

#include <algorithm>
#include <array>

#include "probe/entry_jump.hpp"
#include "probe/instruction.hpp"

namespace fade {
namespace {

using Bytes = std::span<const std::uint8_t>;

constexpr std::array<std::uint8_t, 3> kTableLoad{0x48, 0x8B, 0x05};       // mov disp32(%rip), %rax
constexpr std::array<std::uint8_t, 4> kLoadBool{0x0F, 0xB6, 0x44, 0x24};  // movzbl disp8(%rsp), %eax
constexpr std::array<std::uint8_t, 3> kStoreBool{0x89, 0x44, 0x24};       // mov %eax, disp8(%rsp)
constexpr std::size_t kLoadBoolSize = 5, kStoreBoolSize = 4;

bool begins_with(Bytes bytes, Bytes with) {
  return bytes.size() >= with.size() && std::equal(with.begin(), with.end(), bytes.begin());
}

// jmp *disp8(%rax) or jmp *disp32(%rax)
bool is_table_jump(Bytes bytes) {
  return bytes.size() >= 2 && bytes[0] == 0xFF && (bytes[1] == 0x60 || bytes[1] == 0xA0);
}

bool is_nop(const Instruction& in) {
  if (in.map == Instruction::Map::OneByte) return in.opcode == 0x90;
  return in.map == Instruction::Map::TwoByte0F && in.opcode == 0x1F;
}

// The bool stays at its place.
bool is_bool_cleared(Bytes bytes) {
  if (bytes.size() < kLoadBoolSize + kStoreBoolSize || !begins_with(bytes, kLoadBool)) return false;
  const Bytes store = bytes.subspan(kLoadBoolSize);
  return begins_with(store, kStoreBool) && store[kStoreBool.size()] == bytes[kLoadBool.size()];
}

}  // namespace

bool is_table_load(Bytes bytes) { return bytes.size() >= kTableLoadSize && begins_with(bytes, kTableLoad); }

std::optional<std::uint8_t> table_jump_length(Bytes bytes) {
  const auto jump = is_table_jump(bytes) ? decode_instruction(bytes) : std::nullopt;
  if (!jump) return std::nullopt;
  std::size_t length = jump->length;
  while (length < kJumpSize) {
    const auto padding = decode_instruction(bytes.subspan(length));
    if (!padding || !is_nop(*padding)) return std::nullopt;
    length += padding->length;
  }
  return static_cast<std::uint8_t>(length);
}

std::optional<std::uint8_t> thunk_length(Bytes bytes) {
  if (is_bool_cleared(bytes)) return kLoadBoolSize;
  const bool is_thunk = is_table_load(bytes) && is_table_jump(bytes.subspan(kTableLoadSize));
  return is_thunk ? std::optional(kTableLoadSize) : std::nullopt;
}

}  // namespace fade
