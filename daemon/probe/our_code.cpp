#include "probe/our_code.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "probe/instruction.hpp"
#include "ptrace/signal_frame.hpp"

namespace fade {
namespace {

using Code = std::array<std::uint8_t, kSlotSize>;

// True if an instruction of the slot begins at `offset`.
bool is_boundary(const Code& code, std::size_t offset) {
  std::size_t at = 0;
  while (at < offset) {
    const auto in = decode_instruction(std::span(code).subspan(at));
    if (!in) return false;
    at += in->length;
  }
  return at == offset;
}

// True if a thread at `offset` of the slot or pad has not begun the moved instruction.
bool is_before_instruction(const Site& site, bool in_pad, std::size_t offset) {
  const GuardForm& form = form_of(site.guard);
  if (!in_pad) return offset == 0 || (form.leads_through_net && offset <= kGuardSize);
  const bool is_changed = offset >= form.changed_from && offset <= form.changed_to && form.changed_to > 0;
  return !is_changed && offset <= form.trap_at;
}

// The target of the jump at `offset` that ends a slot; nullopt: no jump is there.
std::optional<RemoteAddr> jump_target(const Code& code, std::size_t offset, RemoteAddr at) {
  constexpr std::uint8_t kJump = 0xE9;
  if (code[offset] != kJump || offset + kJumpSize > kSlotSize) return std::nullopt;
  std::int32_t distance;
  std::memcpy(&distance, code.data() + offset + 1, sizeof distance);
  return at + kJumpSize + static_cast<std::uint64_t>(static_cast<std::int64_t>(distance));
}

}  // namespace

std::optional<RemoteAddr> OurCode::own_address(RemoteAddr in_slot) const {
  if (!areas_.around(in_slot)) return std::nullopt;
  const RemoteAddr slot = areas_.slot_around(in_slot);
  const std::size_t offset = in_slot - slot;
  const Site* site = sites_.of_slot(slot);
  const auto code = memory_.value<Code>(slot);
  if (!site || !code || !is_boundary(*code, offset)) return std::nullopt;
  const bool in_pad = site->way == Way::Jump && slot == site->pad();
  if (in_pad && site->is_entry_jump()) return site->address;
  if (site->is_tapped && offset == 0)
    return std::nullopt;  // the tap has called it: at the site it would be called twice
  if (is_before_instruction(*site, in_pad, offset)) return site->address;
  // Bytes of a slot after the jump are executed elsewhere: a thread at the jump has finished here.
  const auto to = jump_target(*code, offset, in_slot);
  return to && in_pad ? site->address : to;
}

RemoteAddr OurCode::hit_again(RemoteAddr in_slot) const {
  const Site* site = areas_.around(in_slot) ? sites_.of_slot(areas_.slot_around(in_slot)) : nullptr;
  if (!site || (site->way == Way::Jump && !site->has_pad_trap())) return {};
  const bool is_ahead = site->way == Way::Jump && in_slot >= site->pad() && in_slot <= site->pad_trap();
  return !is_ahead && own_address(in_slot) == site->address ? site->address : RemoteAddr{};
}

std::optional<Registers> OurCode::own_registers(const Registers& registers) const {
  const auto own = own_address(registers.ip());
  if (!own) return std::nullopt;
  Registers out = registers;
  out.rip = own->value;
  const Site* site = sites_.at(*own);
  if (!site || !site->is_entry_jump()) return out;
  const std::uint64_t offset = registers.ip() - site->pad();  // huge before it
  const EntryPad pad = site->entry_pad();
  if (offset < pad.kept_at() || offset >= kSlotSize || pad.restore(out, memory_)) return out;
  return std::nullopt;
}

bool OurCode::is_referred_to(RemoteAddr sp) const {
  return std::ranges::any_of(signal_frames(memory_, sp), [this](const SignalFrame& frame) {
    return contains(frame.restorer) || contains(frame.ip);
  });
}

}  // namespace fade
