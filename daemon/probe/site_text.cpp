#include "probe/site_text.hpp"

#include <algorithm>

#include "probe/instruction.hpp"
#include "probe/long_way.hpp"

namespace fade {
namespace {

using JumpBytes = SiteText::JumpBytes;

JumpBytes original_text(const Site& site) {
  return {site.original, site.behind[0], site.behind[1], site.behind[2], site.behind[3]};
}

}  // namespace

Result<RelocatedInstruction> SiteText::slot_code(std::span<const std::uint8_t> bytes, const Site& site) const {
  if (site.is_entry_jump()) return relocate_entry(bytes, site.address, site.slot);
  auto moved = relocate(bytes, site.address, site.moved());
  if (moved && site.is_guard_jump()) keep_padding(*moved, bytes);
  if (!moved || !form_of(site.guard).leads_through_net) return moved;
  std::vector<std::uint8_t> code = way_through_net(net_.guard_code(site.guard));
  code.insert(code.end(), moved->code.begin(), moved->code.end());
  if (code.size() > kSlotSize) return fail("no slot has room for a guard and the instruction");
  return RelocatedInstruction{std::move(code), moved->length};
}

std::vector<std::uint8_t> SiteText::pad_code(const Site& site) const {
  if (site.is_entry_jump()) return site.entry_pad().code(site.pad(), site.slot);
  // The pads with an int3 skip the net's code: a thread that already blocks SIGTRAP cannot lose it.
  const RemoteAddr after = site.guard == Guard::Clone ? site.slot : site.moved();
  return guard_pad(site.guard, site.pad(), after, net_.guard_code(site.guard));
}

bool SiteText::is_of_slot(const Site& site, std::span<const std::uint8_t> bytes) const {
  const auto wanted = slot_code(bytes, site);
  if (!wanted || wanted->length != site.length || bytes[0] != site.original) return false;
  std::vector<std::uint8_t> code(wanted->code.size());
  if (!memory_.read_exactly(site.slot, std::as_writable_bytes(std::span(code)))) return false;
  return code == wanted->code || is_of_long_way(site, bytes);
}

// The first instruction is in the slot of the breakpoint, the next ones are in the slot of the jump.
bool SiteText::is_of_long_way(const Site& site, std::span<const std::uint8_t> bytes) const {
  const auto code = memory_.value<std::array<std::uint8_t, kSlotSize>>(site.slot);
  const auto way = code ? LongWay::in(*code, site.slot) : std::nullopt;
  const auto first = moved_instruction(bytes, site.address, site.slot);
  if (!way || !first || site.way != Way::Trap || site.guard != Guard::None || way->lead.length != site.length ||
      !std::ranges::equal(*first, std::span(*code).first(site.length)))
    return false;
  const auto wanted = relocate_entry(bytes.subspan(site.length), site.address + site.length, way->to);
  std::vector<std::uint8_t> there(wanted ? wanted->code.size() : 0);
  return wanted && memory_.read_exactly(way->to, std::as_writable_bytes(std::span(there))) && there == wanted->code;
}

bool SiteText::recover(Site& site) const {
  if (site.way != Way::Jump) return true;
  if (site.is_entry_jump()) {
    std::array<std::uint8_t, EntryPad::kMostCode> code{};
    memory_.read(site.pad(), std::as_writable_bytes(std::span(code)));
    const EntryPad found = EntryPad::like(code);
    site.lead.depth = found.depth;
    site.shows_words = found.with_words;
  }
  const auto moved = covered_text(site);
  const auto wanted = pad_code(site);
  std::vector<std::uint8_t> pad(wanted.size());
  if (!moved || (*moved)[0] != site.original ||
      !memory_.read_exactly(site.pad(), std::as_writable_bytes(std::span(pad))))
    return false;
  site.is_tapped = site.is_entry_jump() && pad[0] == kJumpOpcode;
  const std::size_t skip = site.is_tapped ? kJumpSize : 0;
  if (!std::equal(pad.begin() + static_cast<std::ptrdiff_t>(skip), pad.end(),
                  wanted.begin() + static_cast<std::ptrdiff_t>(skip)))
    return false;
  std::copy_n(moved->begin() + 1, site.behind.size(), site.behind.begin());
  return true;
}

// What the slot has, as it stood at the site.
std::optional<SiteText::JumpBytes> SiteText::covered_text(const Site& site) const {
  const auto slot = memory_.value<std::array<std::uint8_t, 16>>(site.moved());
  if (!slot) return std::nullopt;
  JumpBytes out;
  std::copy_n(slot->begin(), out.size(), out.begin());
  if (!site.is_entry_jump()) return out;
  const auto first = moved_instruction(*slot, site.moved(), site.address);
  if (!first) return std::nullopt;
  std::copy_n(first->begin(), std::min(first->size(), out.size()), out.begin());
  return out;
}

// Other threads may be about to execute this. Within an aligned word they see either the old bytes or the new bytes.
// Otherwise a thread may meet a half-written jump, which begins with an int3. If fade dies just then, the int3 kills a
// thread that blocks SIGTRAP.
bool SiteText::write_jump_bytes(const Site& site, JumpBytes bytes, Tid stopped) const {
  const RemoteAddr word_at{site.address.value & ~std::uint64_t{7}};
  const std::uint64_t skip = site.address - word_at;
  if (auto word = memory_.value<std::array<std::uint8_t, 8>>(word_at); word && skip + bytes.size() <= word->size()) {
    std::ranges::copy(bytes, word->begin() + static_cast<std::ptrdiff_t>(skip));
    return memory_.write(word_at, bytes_of(*word), stopped);
  }
  return memory_.write(site.address, bytes_of(kInt3), stopped) &&
         memory_.write(site.address + 1, bytes_of(bytes).subspan(1), stopped) &&
         memory_.write(site.address, bytes_of(bytes).first(1), stopped);
}

bool SiteText::put_in(const Site& site, Tid stopped) const {
  if (site.way == Way::Jump) return write_jump_bytes(site, jump_code(site.address, site.pad()), stopped);
  return memory_.write(site.address, bytes_of(kInt3), stopped);
}

bool SiteText::put_in_first(const Site& site, Tid stopped) const {
  if (site.way != Way::Jump) return put_in(site, stopped);
  return memory_.write_at_once(site.address, bytes_of(jump_code(site.address, site.pad()))) || put_in(site, stopped);
}

bool SiteText::put_back(const Site& site, Tid stopped) const {
  if (site.way == Way::Jump) return write_jump_bytes(site, original_text(site), stopped);
  return memory_.write(site.address, bytes_of(site.original), stopped);
}

bool SiteText::is_set(const Site& site) const {
  if (memory_.value<std::uint8_t>(site.address) == kInt3) return true;
  return site.way == Way::Jump && memory_.value<JumpBytes>(site.address) == jump_code(site.address, site.pad());
}

bool SiteText::is_written_over(const Site& site) const {
  if (is_set(site)) return false;
  const auto text = memory_.value<JumpBytes>(site.address);
  return text && *text != original_text(site) && !is_set(site);
}

}  // namespace fade
