#include "probe/entry_jump.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <iterator>

#include "probe/instruction.hpp"

namespace fade {
namespace {

// A register that a pad uses: the beginning of `mov` to and from disp8(%rsp), without its opcode, and the register in a
// stop.
struct PadRegister {
  std::uint8_t rex, modrm;
  unsigned long long user_regs_struct::*shown;
};
constexpr PadRegister kPadRegisters[] = {
    {0x4C, 0x5C, &user_regs_struct::r11}, {0x48, 0x44, &user_regs_struct::rax}, {0x4C, 0x54, &user_regs_struct::r10}};
constexpr std::uint8_t kStore = 0x89, kLoad = 0x8B, kWord = 8;
constexpr std::size_t kMoveSize = 5;
static_assert(EntryPad::kMostCode <= kSlotSize);

std::span<const PadRegister> used_by(const EntryPad& pad) {
  return std::span(kPadRegisters).first(pad.with_words ? 1 + EntryPad::kWords : 1);
}

// The offset of the saved register with that index.
std::uint8_t kept(std::size_t index) { return static_cast<std::uint8_t>((index + 1) * kWord); }

using Bytes = std::span<const std::uint8_t>;

// True without a prefix or with a REX prefix. No branch leads into the middle of such an instruction, but one may skip
// a `lock` prefix.
bool is_legacy(const Instruction& in, Bytes bytes) {
  const bool has_rex = (bytes[0] & 0xF0) == 0x40;
  return in.map == Instruction::Map::OneByte && bytes[has_rex] == in.opcode;
}

std::uint8_t modrm(const Instruction& in, Bytes bytes) { return bytes[in.modrm_offset]; }

// push of a register; sub of a number from %rsp
bool moves_stack(const Instruction& in, Bytes bytes) {
  if (!is_legacy(in, bytes)) return false;
  if (in.opcode >= 0x50 && in.opcode <= 0x57) return true;
  return (in.opcode == 0x81 || in.opcode == 0x83) && bytes[0] == 0x48 && modrm(in, bytes) == 0xEC;
}

// mov or xor between registers; mov of a register into the function's own part of the stack
bool stays_at_home(const Instruction& in, Bytes bytes) {
  if (!is_legacy(in, bytes)) return false;
  const bool is_move = in.opcode == 0x89 || in.opcode == 0x8B || in.opcode == 0x31 || in.opcode == 0x33;
  if (is_move && modrm(in, bytes) >= 0xC0) return true;
  const bool is_at_stack = (modrm(in, bytes) & 0xC7) == 0x44 && bytes[in.modrm_offset + 1u] == 0x24;  // disp8(%rsp)
  return in.opcode == 0x89 && is_at_stack;
}

bool is_endbr64(Bytes bytes) {
  return bytes.size() >= kEndbr64.size() && std::equal(kEndbr64.begin(), kEndbr64.end(), bytes.begin());
}

// The form of a branch's distance, by its first byte.
enum class BranchForm : std::uint8_t { None, Short, Near, Conditional };

constexpr auto kBranchForms = [] {
  std::array<BranchForm, 256> out{};
  for (std::size_t opcode = 0x70; opcode <= 0x7F; ++opcode) out[opcode] = BranchForm::Short;
  for (const std::size_t opcode : {0xE0, 0xE1, 0xE2, 0xE3, 0xEB}) out[opcode] = BranchForm::Short;
  for (const std::size_t opcode : {0xE8, 0xE9}) out[opcode] = BranchForm::Near;
  out[0x0F] = BranchForm::Conditional;
  return out;
}();

std::optional<std::uint8_t> length_behind_any_lead(Bytes bytes) {
  if (const auto thunk = thunk_length(bytes)) return thunk;
  if (const auto jump = table_jump_length(bytes)) return jump;
  return entry_jump_length(bytes, {.length = 1, .depth = 8});
}

std::int32_t distance(RemoteAddr from, RemoteAddr to) { return static_cast<std::int32_t>(to.value - from.value); }

}  // namespace

std::optional<EntryLead> entry_lead(Bytes function) {  // the jump is behind this lead: DECISIONS 65
  if (is_endbr64(function)) return EntryLead{.length = kEndbr64.size(), .depth = 0};
  if (is_table_load(function)) return EntryLead{.length = kTableLoadSize, .depth = 0};
  const auto in = decode_instruction(function);
  if (!in || !is_legacy(*in, function) || in->opcode < 0x50 || in->opcode > 0x57) return std::nullopt;
  return EntryLead{.length = in->length, .depth = 8};
}

std::optional<std::uint8_t> entry_jump_length(Bytes bytes, EntryLead lead) {
  if (lead.loads_table()) return table_jump_length(bytes);
  if (const auto thunk = lead.depth == 0 ? thunk_length(bytes) : std::nullopt) return thunk;
  std::size_t length = 0;
  while (length < kJumpSize) {
    const Bytes rest = bytes.subspan(length);
    const auto in = decode_instruction(rest);
    if (!in) return std::nullopt;
    const bool moves = moves_stack(*in, rest);
    if (!moves && ((length == 0 && lead.depth == 0) || !stays_at_home(*in, rest))) return std::nullopt;
    length += in->length;
  }
  return static_cast<std::uint8_t>(length);
}

std::vector<std::uint8_t> starts_under_jump(Bytes bytes) {
  std::vector<std::uint8_t> out;
  for (std::size_t at = 0;;) {
    const auto in = decode_instruction(bytes.subspan(at));
    at += in ? in->length : kJumpSize;
    if (at >= kJumpSize) return out;
    out.push_back(static_cast<std::uint8_t>(at));
  }
}

std::unordered_set<RemoteAddr> branched_to(Bytes code, RemoteAddr at, const std::unordered_set<RemoteAddr>& wanted) {
  std::unordered_set<RemoteAddr> out;
  const auto [lowest, highest] = std::ranges::minmax_element(wanted);
  if (lowest == wanted.end()) return out;
  const std::uint64_t first = lowest->value, reach = highest->value - first;
  const auto leads_to = [&](std::size_t end, std::int64_t distance) {
    const RemoteAddr target{at.value + end + static_cast<std::uint64_t>(distance)};
    if (target.value - first <= reach && wanted.contains(target)) out.insert(target);
  };
  const auto distance_at = [&](std::size_t i) {
    std::int32_t d;
    std::memcpy(&d, code.data() + i, sizeof d);
    return std::int64_t{d};
  };
  for (std::size_t i = 0; i + 1 < code.size(); ++i) {
    const BranchForm form = kBranchForms[code[i]];
    if (form == BranchForm::None) continue;
    if (form == BranchForm::Short) leads_to(i + 2, static_cast<std::int8_t>(code[i + 1]));
    else if (form == BranchForm::Near && i + 5 <= code.size()) leads_to(i + 5, distance_at(i + 1));
    else if (form == BranchForm::Conditional && (code[i + 1] & 0xF0) == 0x80 && i + 6 <= code.size())
      leads_to(i + 6, distance_at(i + 2));
  }
  return out;
}

Result<RelocatedInstruction> relocate_entry(Bytes bytes, RemoteAddr site, RemoteAddr slot) {
  const auto length = length_behind_any_lead(bytes);  // the caller has checked the instructions before
  if (!length) return fail(fmt::format("no jump has room at {:#x}", site.value));
  RelocatedInstruction out{.code = {}, .length = *length};
  while (out.code.size() < *length) {
    const std::size_t at = out.code.size();
    const auto moved = moved_instruction(bytes.subspan(at), site + at, slot + at);
    if (!moved) return fail(fmt::format("the slot at {:#x} is too far from {:#x}", slot.value, site.value));
    std::ranges::copy(*moved, std::back_inserter(out.code));
  }
  std::ranges::copy(jump_code(slot + *length, site + *length), std::back_inserter(out.code));
  return out;
}

std::array<std::uint8_t, kJumpSize> jump_code(RemoteAddr from, RemoteAddr to) {
  std::array<std::uint8_t, kJumpSize> out{0xE9};
  const std::int32_t d = distance(from + kJumpSize, to);
  std::memcpy(out.data() + 1, &d, sizeof d);
  return out;
}

std::vector<std::uint8_t> EntryPad::code(RemoteAddr pad, RemoteAddr slot) const {
  const auto used = used_by(*this);
  std::vector<std::uint8_t> out;
  const auto move = [&](std::uint8_t opcode, const PadRegister& one, int at) {
    out.insert(out.end(), {one.rex, opcode, one.modrm, 0x24, static_cast<std::uint8_t>(at)});
  };
  for (std::size_t i = 0; i < used.size(); ++i) move(kStore, used[i], -kept(i));
  for (std::size_t i = 0; i < used.size(); ++i) move(kLoad, used[i], depth + static_cast<int>(i) * kWord);
  out.push_back(kInt3);
  for (std::size_t i = 0; i < used.size(); ++i) move(kLoad, used[i], -kept(i));
  std::ranges::copy(jump_code(pad + out.size(), slot), std::back_inserter(out));
  return out;
}

EntryPad EntryPad::like(std::span<const std::uint8_t, kMostCode> code) {
  EntryPad out{.with_words = code[kMoveSize + 1] == kStore};  // the second move
  out.depth = code[out.kept_at() + kMoveSize - 1];
  return out;
}

std::span<const std::uint64_t> EntryPad::shown(const Registers& registers,
                                               std::array<std::uint64_t, 1 + kWords>& into) const {
  const auto used = used_by(*this);
  for (std::size_t i = 0; i < used.size(); ++i) into[i] = registers.*used[i].shown;
  return std::span(into).first(used.size());
}

bool EntryPad::restore(Registers& registers, const Memory& memory) const {
  const auto used = used_by(*this);
  for (std::size_t i = 0; i < used.size(); ++i) {
    const auto was = memory.value<std::uint64_t>(registers.sp() - kept(i));
    if (!was) return false;
    registers.*used[i].shown = *was;
  }
  return true;
}

}  // namespace fade
