#include "probe/relocate.hpp"

#include <fmt/format.h>

#include <cstring>
#include <optional>

#include "probe/instruction.hpp"

namespace fade {
namespace {

// Writes code for a known address; remembers if a distance did not fit.
class Emitter {
 public:
  explicit Emitter(RemoteAddr at) : at_(at) {}

  void bytes(std::span<const std::uint8_t> b) { code_.insert(code_.end(), b.begin(), b.end()); }
  void bytes(std::initializer_list<std::uint8_t> b) { code_.insert(code_.end(), b); }
  void word(std::uint32_t w) {
    std::uint8_t b[4];
    std::memcpy(b, &w, 4);
    bytes(b);
  }
  // Four bytes of distance to `target`, at the end of an instruction.
  void distance(RemoteAddr target) { word(static_cast<std::uint32_t>(reach(target, code_.size() + 4))); }
  void jump(RemoteAddr target) {
    bytes({0xE9});
    distance(target);
  }
  void push_address(RemoteAddr a) {
    bytes({0x68});  // push sign-extended imm32, then correct the upper half
    word(static_cast<std::uint32_t>(a.value));
    bytes({0xC7, 0x44, 0x24, 0x04});
    word(static_cast<std::uint32_t>(a.value >> 32));
  }
  // The original bytes; the %rip-relative operand still means the same address.
  void copy(std::span<const std::uint8_t> original, const Instruction& in, RemoteAddr site) {
    const std::size_t start = code_.size();
    bytes(original);
    if (!in.rip_relative) return;
    const RemoteAddr operand{site.value + in.length + static_cast<std::uint64_t>(in.displacement)};
    const auto displacement = static_cast<std::uint32_t>(reach(operand, start + in.length));
    std::memcpy(code_.data() + start + in.displacement_offset, &displacement, 4);
  }
  std::uint8_t& at(std::size_t i) { return code_[i]; }
  bool fits() const { return fits_ && code_.size() <= kSlotSize; }
  std::vector<std::uint8_t> take() { return std::move(code_); }

 private:
  std::int64_t reach(RemoteAddr target, std::size_t end) {
    const auto d = static_cast<std::int64_t>(target.value - (at_.value + end));
    fits_ = fits_ && d == static_cast<std::int32_t>(d);
    return d;
  }

  RemoteAddr at_;
  std::vector<std::uint8_t> code_;
  bool fits_ = true;
};

enum class Form { Plain, Jump, Call, ConditionalJump, CountedJump, IndirectCall, Refused };

Form form_of(const Instruction& in) {
  using Map = Instruction::Map;
  if (in.relative_branch) {
    if (in.operand_size_prefix) return Form::Refused;  // AMD and Intel execute it differently
    if (in.map == Map::OneByte && (in.opcode == 0xE9 || in.opcode == 0xEB)) return Form::Jump;
    if (in.map == Map::OneByte && in.opcode == 0xE8) return Form::Call;
    if (in.map == Map::OneByte && (in.opcode & 0xF0) == 0x70) return Form::ConditionalJump;
    if (in.map == Map::TwoByte0F && (in.opcode & 0xF0) == 0x80) return Form::ConditionalJump;
    if (in.map == Map::OneByte && in.opcode >= 0xE0 && in.opcode <= 0xE3) return Form::CountedJump;
    return Form::Refused;  // xbegin
  }
  if (in.map == Map::OneByte && in.opcode == 0xFF && in.modrm_reg == 2) return Form::IndirectCall;
  if (in.map == Map::OneByte && in.opcode == 0xFF && in.modrm_reg == 3) return Form::Refused;  // far call
  return Form::Plain;
}

void emit(Emitter& out, Form form, const Instruction& in, std::span<const std::uint8_t> original, RemoteAddr site) {
  const RemoteAddr next = site + in.length;
  const RemoteAddr target{next.value + static_cast<std::uint64_t>(in.branch)};
  switch (form) {
    case Form::Plain:
      out.copy(original, in, site);
      out.jump(next);
      break;
    case Form::Jump: out.jump(target); break;
    case Form::Call:
      out.push_address(next);
      out.jump(target);
      break;
    case Form::ConditionalJump:
      out.bytes({0x0F, static_cast<std::uint8_t>(0x80 | (in.opcode & 0x0F))});
      out.distance(target);
      out.jump(next);
      break;
    case Form::CountedJump:  // 8-bit distance only: over the jump to the next instruction, to a jump to the target
      out.bytes(original.first(in.branch_offset));
      out.bytes({5});
      out.jump(next);
      out.jump(target);
      break;
    case Form::IndirectCall:
      // push operand; push (%rsp); write the return address into the first; ret. The operand is read before %rsp
      // moves, as the call did.
      out.copy(original, in, site);
      out.at(in.modrm_offset) = static_cast<std::uint8_t>((out.at(in.modrm_offset) & ~0x38) | 6 << 3);
      out.bytes({0xFF, 0x34, 0x24});
      out.bytes({0xC7, 0x44, 0x24, 0x08});
      out.word(static_cast<std::uint32_t>(next.value));
      out.bytes({0xC7, 0x44, 0x24, 0x0C});
      out.word(static_cast<std::uint32_t>(next.value >> 32));
      out.bytes({0xC3});
      break;
    case Form::Refused: break;
  }
}

}  // namespace

std::optional<std::vector<std::uint8_t>> moved_instruction(std::span<const std::uint8_t> bytes, RemoteAddr from,
                                                           RemoteAddr to) {
  const auto in = decode_instruction(bytes);
  if (!in) return std::nullopt;
  Emitter out(to);
  out.copy(bytes.first(in->length), *in, from);
  return out.fits() ? std::optional(out.take()) : std::nullopt;
}

Result<RelocatedInstruction> relocate(std::span<const std::uint8_t> bytes, RemoteAddr site, RemoteAddr slot) {
  const auto in = decode_instruction(bytes);
  if (!in) return fail(fmt::format("no instruction can be decoded at {:#x}", site.value));
  const auto original = bytes.first(in->length);
  if (original[0] == kInt3) return fail(fmt::format("another debugger's breakpoint stands at {:#x}", site.value));
  const Form form = form_of(*in);
  if (form == Form::Refused)
    return fail(fmt::format("the instruction at {:#x} cannot be moved (opcode {:#x})", site.value, in->opcode));
  Emitter out(slot);
  emit(out, form, *in, original, site);
  if (!out.fits()) return fail(fmt::format("the slot at {:#x} is too far from {:#x}", slot.value, site.value));
  return RelocatedInstruction{out.take(), in->length};
}

}  // namespace fade
