#include "probe/our_code.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "probe/instruction.hpp"
#include "probe/long_way.hpp"
#include "probe/moved_entry.hpp"
#include "ptrace/signal_frame.hpp"

namespace fade {
namespace {

using Code = std::array<std::uint8_t, kSlotSize>;
constexpr std::size_t kPushLength = 5;

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

// True if a thread at `offset` has pushed the lower half of the return address of a moved call, and not yet the upper.
bool is_half_pushed(const Code& code, std::size_t offset) {
  constexpr std::uint8_t kPush = 0x68, kUpperHalf[] = {0xC7, 0x44, 0x24, 0x04};
  return offset >= kPushLength && offset + sizeof kUpperHalf <= kSlotSize && code[offset - kPushLength] == kPush &&
         std::memcmp(code.data() + offset, kUpperHalf, sizeof kUpperHalf) == 0 &&
         is_boundary(code, offset - kPushLength);
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
  if (!site || !code) return std::nullopt;
  if (const auto way = LongWay::in(*code, slot); way && site->way == Way::Trap && way->is_behind_lead(offset))
    return site->address + site->length;
  if (!is_boundary(*code, offset)) return std::nullopt;
  const bool in_pad = site->way == Way::Jump && slot == site->pad();
  if (in_pad && site->is_entry_jump()) return site->address;
  if (site->is_tapped && offset == 0)
    return std::nullopt;  // the tap has called it: at the site it would be called twice
  if (is_before_instruction(*site, in_pad, offset)) return site->address;
  // Bytes of a slot after the jump are executed elsewhere: a thread at the jump has finished here.
  const auto to = jump_target(*code, offset, in_slot);
  return to && in_pad ? site->address : to;
}

Registers OurCode::at_begin_of_slot(const Registers& registers) const {
  const RemoteAddr ip = registers.ip();
  const Site* const site = areas_.around(ip) ? sites_.of_slot(areas_.slot_around(ip)) : nullptr;
  if (!site || ip <= site->slot || ip >= site->slot + kSlotSize) return registers;
  const auto code = memory_.value<Code>(site->slot);
  if (code && is_half_pushed(*code, ip - site->slot)) {
    Registers out = registers;
    out.rip -= kPushLength;
    out.rsp += sizeof(std::uint64_t);
    return out;
  }
  if (!site->is_entry_jump() || ip >= site->slot + site->length) return registers;
  return (code ? before_moved(*site, *code, registers, memory_) : std::nullopt).value_or(registers);
}

std::optional<OurCode::Hit> OurCode::hit_again(const Registers& met) const {
  const Registers registers = at_begin_of_slot(met);
  const RemoteAddr ip = registers.ip();
  const Site* site = areas_.around(ip) ? sites_.of_slot(areas_.slot_around(ip)) : nullptr;
  if (!site || (site->way == Way::Jump && !site->has_pad_trap())) return std::nullopt;
  if (const auto entry = registers_at_entry(registers)) return next_hit(entry->ip(), entry->sp());
  const bool is_ahead = site->way == Way::Jump && ip >= site->pad() && ip <= site->pad_trap();
  if (is_ahead || own_address(ip) != site->address) return std::nullopt;
  return site->way == Way::Trap ? next_hit(site->address, registers.sp()) : Hit{site->address, registers.sp()};
}

// The breakpoint at the entry, or the jump that has taken its place.
OurCode::Hit OurCode::next_hit(RemoteAddr function, RemoteAddr sp) const {
  const Site* const next = sites_.of_function(function);
  const bool is_jump = next && next->is_entry_jump() && !next->is_lifted && next->address != function;
  return is_jump ? Hit{next->address, sp - next->lead.depth} : Hit{function, sp};
}

// A thread in a long way, or at the beginning of the slot that it leads to. It must not be sent into the bytes that a
// jump is about to cover. The first instruction is an endbr64, or a push that is taken back.
std::optional<Registers> OurCode::registers_at_entry(const Registers& registers) const {
  const RemoteAddr ip = registers.ip();
  if (!areas_.around(ip)) return std::nullopt;
  const RemoteAddr slot = areas_.slot_around(ip);
  const Site* const site = sites_.of_slot(slot);
  const auto code = site ? memory_.value<Code>(slot) : std::nullopt;
  if (!code) return std::nullopt;
  Registers out = registers;
  if (site->is_entry_jump() && site->is_lifted && site->lead.length != 0 && !site->is_tapped && ip == site->slot) {
    out.rip = (site->address - site->lead.length).value;
    out.rsp += site->lead.depth;
    return out;
  }
  const auto way = LongWay::in(*code, slot);
  if (!way || site->way != Way::Trap || !way->is_behind_lead(ip - slot)) return std::nullopt;
  out.rip = site->address.value;
  out.rsp += way->lead.depth;
  return out;
}

std::optional<Registers> OurCode::own_registers(const Registers& met) const {
  const Registers registers = at_begin_of_slot(met);
  if (const auto entry = registers_at_entry(registers)) return entry;
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
