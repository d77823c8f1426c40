#include "stack/frame_rule.hpp"

#include <dwarf.h>
#include <elfutils/libdw.h>

#include <limits>
#include <optional>

namespace fade {
namespace {

// libdw's rule of one register, as far as a FrameRule can hold it.
struct Saving {
  enum class How : std::uint8_t { Same, Undefined, AtOffset, Other } how = How::Other;
  std::int16_t offset = 0;
};

template <class To>
std::optional<To> narrow(Dwarf_Word word) {
  const auto value = static_cast<std::int64_t>(word);
  if (value < std::numeric_limits<To>::min() || value > std::numeric_limits<To>::max()) return std::nullopt;
  return static_cast<To>(value);
}

// dwarf_frame_register(3): no operations and no pointer is "same value", no operations is "undefined", and a register
// at an offset from the CFA is DW_OP_call_frame_cfa with or without DW_OP_plus_uconst.
Saving saving_of(Dwarf_Frame& frame, int number) {
  Dwarf_Op buffer[3];
  Dwarf_Op* ops = nullptr;
  std::size_t n = 0;
  if (::dwarf_frame_register(&frame, number, buffer, &ops, &n) != 0) return {};
  if (n == 0) return {ops == buffer ? Saving::How::Undefined : Saving::How::Same};
  if (ops[0].atom != DW_OP_call_frame_cfa || n > 2 || (n == 2 && ops[1].atom != DW_OP_plus_uconst)) return {};
  const auto offset = narrow<std::int16_t>(n == 2 ? ops[1].number : 0);
  return offset ? Saving{Saving::How::AtOffset, *offset} : Saving{};
}

bool set_cfa(Dwarf_Frame& frame, FrameRule& rule) {
  Dwarf_Op* ops = nullptr;
  std::size_t n = 0;
  if (::dwarf_frame_cfa(&frame, &ops, &n) != 0 || n != 1) return false;
  const bool is_numbered = ops[0].atom == DW_OP_bregx;
  if (!is_numbered && (ops[0].atom < DW_OP_breg0 || ops[0].atom > DW_OP_breg31)) return false;
  const Dwarf_Word number = is_numbered ? ops[0].number : ops[0].atom - Dwarf_Word{DW_OP_breg0};
  const auto offset = narrow<std::int32_t>(is_numbered ? ops[0].number2 : ops[0].number);
  if (number >= FrameRegisters::kReturnAddress || !offset) return false;
  rule.cfa_register = static_cast<std::uint8_t>(number);
  rule.cfa_offset = *offset;
  return true;
}

bool set_saved(Dwarf_Frame& frame, FrameRule& rule) {
  for (std::size_t i = 0; i < FrameRegisters::kSaved.size(); ++i) {
    const Saving saving = saving_of(frame, FrameRegisters::kSaved[i]);
    // For a register without a rule libdw returns its version of the ABI, in which rbx is undefined.
    if (saving.how == Saving::How::Same || saving.how == Saving::How::Undefined) continue;
    if (saving.how != Saving::How::AtOffset) return false;
    rule.saved = static_cast<std::uint8_t>(rule.saved | 1U << i);
    rule.saved_at[i] = saving.offset;
  }
  return true;
}

}  // namespace

FrameRule FrameRule::from(Dwarf_Frame& frame) {
  FrameRule rule{.kind = Kind::Expressions};
  const int return_register = ::dwarf_frame_info(&frame, nullptr, nullptr, &rule.is_signal);
  if (return_register != FrameRegisters::kReturnAddress) return {};
  const Saving ra = saving_of(frame, return_register);
  if (ra.how == Saving::How::Undefined) return {.kind = Kind::Bottom};
  rule.return_at = ra.offset;
  // Behind a signal frame every register is known again, but a rule holds only some of them.
  const bool is_simple =
      ra.how == Saving::How::AtOffset && !rule.is_signal && set_cfa(frame, rule) && set_saved(frame, rule);
  if (is_simple) rule.kind = Kind::Offsets;
  return rule;
}

}  // namespace fade
