#include "probe/moved_entry.hpp"

#include <array>
#include <cstring>

#include "probe/instruction.hpp"

namespace fade {
namespace {

using Bytes = std::span<const std::uint8_t>;
using RegisterNumber = std::uint8_t;  // as instructions encode it
constexpr std::uint64_t kPushed = 8;  // bytes

constexpr std::array kByNumber = {
    &user_regs_struct::rax, &user_regs_struct::rcx, &user_regs_struct::rdx, &user_regs_struct::rbx,
    &user_regs_struct::rsp, &user_regs_struct::rbp, &user_regs_struct::rsi, &user_regs_struct::rdi,
    &user_regs_struct::r8,  &user_regs_struct::r9,  &user_regs_struct::r10, &user_regs_struct::r11,
    &user_regs_struct::r12, &user_regs_struct::r13, &user_regs_struct::r14, &user_regs_struct::r15};

// System V x86-64 ABI, 3.2.3. %rax counts vector registers for a function with variable arguments; HIP has none.
constexpr bool carries_argument(RegisterNumber number) { return number != 0 && number != 10 && number != 11; }

// The effect of the first instructions of a function, of the forms that entry_jump_length() accepts.
class Prologue {
 public:
  void execute(Bytes code) {
    const auto in = decode_instruction(code);
    if (!in) return;
    const std::uint8_t rex = (code[0] & 0xF0) == 0x40 ? code[0] : 0, modrm = in->has_modrm ? code[in->modrm_offset] : 0;
    const auto in_opcode_or_rm = static_cast<RegisterNumber>(rex & 1);
    const auto in_reg = static_cast<RegisterNumber>(rex >> 2 & 1);
    const auto number = [](std::uint8_t low, RegisterNumber high) {
      return static_cast<RegisterNumber>((low & 7) | high << 3);
    };
    switch (in->opcode) {
      case 0x81:
      case 0x83: return lower(code.first(in->length), *in);
      case 0x31:
      case 0x89:
        if (modrm >= 0xC0) is_changed_[number(modrm, in_opcode_or_rm)] = true;  // else a store
        return;
      case 0x33:
      case 0x8B: is_changed_[number(modrm >> 3, in_reg)] = true; return;
      default: return push(number(in->opcode, in_opcode_or_rm));
    }
  }
  // The number of bytes by which the stack pointer is below its value at the entry.
  std::uint64_t depth() const { return depth_; }

  // Restores all registers but %rsp. `entry`: the stack pointer at the entry.
  bool undo(Registers& registers, RemoteAddr entry, const Memory& memory) const {
    for (RegisterNumber n = 0; n < kByNumber.size(); ++n) {
      if (!is_changed_[n] || !carries_argument(n)) continue;
      const auto before = pushed_at_[n] != 0 ? memory.value<std::uint64_t>(entry - pushed_at_[n]) : std::nullopt;
      if (!before) return false;
      registers.*kByNumber[n] = *before;
    }
    return true;
  }

 private:
  void push(RegisterNumber number) {
    depth_ += kPushed;
    if (!is_changed_[number]) pushed_at_[number] = depth_;
  }
  void lower(Bytes code, const Instruction& in) {
    std::int32_t by = static_cast<std::int8_t>(code.back());
    if (in.opcode == 0x81) std::memcpy(&by, code.last(sizeof by).data(), sizeof by);
    depth_ += static_cast<std::uint64_t>(std::int64_t{by});
  }

  std::array<std::uint64_t, kByNumber.size()> pushed_at_{};  // depth; 0: not pushed
  std::array<bool, kByNumber.size()> is_changed_{};
  std::uint64_t depth_ = 0;
};

using Word = std::array<std::uint8_t, 8>;
// The bytes from the push in front of the site on. nullopt: a breakpoint hides the push.
std::optional<Word> lead_code(const Site& site, const Memory& memory) {
  const auto code = memory.value<Word>(site.address - site.lead.length);
  return code && (*code)[0] != kInt3 ? code : std::nullopt;
}

}  // namespace

std::optional<Registers> before_moved(const Site& site, Bytes moved, const Registers& now, const Memory& memory) {
  Prologue prologue;
  if (site.lead.depth != 0) {
    const auto lead = lead_code(site, memory);
    if (!lead) return std::nullopt;
    prologue.execute(*lead);
  }
  const std::uint64_t executed = now.ip() - site.slot;
  std::uint64_t at = 0;
  while (at < executed) {
    const auto in = decode_instruction(moved.subspan(at));
    if (!in) return std::nullopt;
    prologue.execute(moved.subspan(at));
    at += in->length;
  }
  Registers out = now;
  const RemoteAddr entry = now.sp() + prologue.depth();
  if (at != executed || !prologue.undo(out, entry, memory)) return std::nullopt;
  out.rip = site.slot.value;
  out.rsp = (entry - site.lead.depth).value;
  return out;
}

}  // namespace fade
