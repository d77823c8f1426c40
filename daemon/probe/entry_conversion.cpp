#include "probe/entry_conversion.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/clock.hpp"
#include "probe/instruction.hpp"
#include "probe/long_way.hpp"

namespace fade {
namespace {

tl::unexpected<Error> cannot_write(RemoteAddr at) {
  return fail(fmt::format("cannot write a jump at {:#x}", at.value));
}

}  // namespace

Result<Site*> EntryConversion::breakpoint_at(RemoteAddr function) {
  Site* const site = sites_.at(function);
  const bool is_armed = ours_.net() && !sites_.is_closed() && site && !site->is_lifted;
  if (!is_armed || site->way != Way::Trap || site->guard != Guard::None || !ours_.text().is_set(*site))
    return fail(fmt::format("no breakpoint stands at {:#x}", function.value));
  return site;
}

Result<RemoteRange> EntryConversion::begin(FunctionEntry entry, Tid stopped) {
  const auto breakpoint = breakpoint_at(entry.function);
  if (!breakpoint) return tl::unexpected(breakpoint.error());
  if (!entry.code.empty()) entry.code[0] = (*breakpoint)->original;  // it may have been read after the int3 was set
  const auto place = place_of_jump(entry, sites_);
  if (!place) return fail(fmt::format("no jump has room at {:#x}", entry.function.value));
  const auto jump = jump_for(entry, *place, stopped);
  if (!jump) return tl::unexpected(jump.error());
  if (!lead_to(*sites_.at(entry.function), **jump, stopped)) return cannot_write(*place);
  return RemoteRange{*place, *place + (*jump)->length};
}

// A jump that stood there before, perhaps that of a fade that was killed, keeps its slot and its pad.
bool EntryConversion::can_use_again(const Site& jump, EntryLead lead) const {
  std::array<std::uint8_t, 16> bytes;
  return jump.is_entry_jump() && jump.is_lifted && !jump.is_tapped && jump.lead.depth == lead.depth &&
         ours_.memory().read_exactly(jump.address, std::as_writable_bytes(std::span(bytes))) &&
         ours_.text().is_of_slot(jump, bytes);
}

Result<Site*> EntryConversion::jump_for(const FunctionEntry& entry, RemoteAddr place, Tid stopped) {
  const EntryLead lead = *entry_lead(entry.code);
  Site* const known = sites_.at(place);
  if (known && can_use_again(*known, lead)) {
    known->lead = lead;  // of a killed fade's jump only the depth is known
    return known;
  }
  if (known) return fail(fmt::format("another breakpoint stands at {:#x}", place.value));
  if (auto room = ours_.make_room(sites_, stopped); !room) return tl::unexpected(room.error());
  const auto made = make_jump(entry, place, lead, stopped);
  if (!made) return tl::unexpected(made.error());
  return sites_.keep(*made);
}

// Slot, pad and entry in the net, as for any jump. The text has none yet, so the site is lifted.
Result<Site> EntryConversion::make_jump(const FunctionEntry& entry, RemoteAddr place, EntryLead lead, Tid stopped) {
  const auto code = std::span(entry.code).subspan(place - entry.function);
  const auto slot = ours_.slot_for(Way::Jump, place, stopped);
  if (!slot) return tl::unexpected(slot.error());
  Site site{.address = place, .slot = *slot, .original = code[0], .lead = lead, .way = Way::Jump, .is_lifted = true};
  std::copy_n(code.begin() + 1, site.behind.size(), site.behind.begin());
  site.shows_words = entry.stack_words == EntryPad::kWords;
  auto moved = ours_.text().slot_code(code.first(std::min<std::size_t>(code.size(), 16)), site);
  if (moved) {
    site.length = moved->length;
    moved->code.resize(kSlotSize);
    std::ranges::copy(site.entry_pad().code(site.pad(), site.slot), std::back_inserter(moved->code));
    if (ours_.memory().write(site.slot, std::as_bytes(std::span(moved->code)), stopped) && ours_.enter(site, stopped))
      return site;
  }
  ours_.give_back(Way::Jump, *slot);
  return cannot_write(place);
}

// The far jump is written first. No thread reaches it before the beginning of the slot leads there.
bool EntryConversion::lead_to(const Site& breakpoint, const Site& jump, Tid stopped) {
  const auto first = ours_.memory().value<LongWay::Word>(breakpoint.slot);
  if (!first) return false;
  const LongWay way{jump.lead, jump.slot};
  const auto [at, begin] = LongWay::begin(std::span(*first).first(jump.lead.length));
  const auto there = ours_.memory().value<LongWay::Word>(breakpoint.slot + at);
  const auto far_jump = way.far_jump(breakpoint.slot);
  return ours_.memory().write(breakpoint.slot + LongWay::kFarJumpAt, bytes_of(far_jump), stopped) &&
         (begin == there || ours_.memory().write(breakpoint.slot + at, bytes_of(begin), stopped));
}

Result<Site*> EntryConversion::finish(RemoteAddr function, Tid stopped) {
  const auto breakpoint = breakpoint_at(function);
  if (!breakpoint) return tl::unexpected(breakpoint.error());
  std::array<std::uint8_t, 16> bytes;
  std::array<std::uint8_t, kSlotSize> slot;
  if (!ours_.memory().read_exactly(function, std::as_writable_bytes(std::span(bytes))) ||
      !ours_.memory().read_exactly((*breakpoint)->slot, std::as_writable_bytes(std::span(slot))))
    return cannot_write(function);
  bytes[0] = (*breakpoint)->original;
  const auto way = LongWay::in(slot, (*breakpoint)->slot);
  Site* const jump = way ? sites_.at(function + way->lead.length) : nullptr;
  if (!jump || jump->slot != way->to || !jump->is_lifted || !ours_.text().is_of_slot(**breakpoint, bytes))
    return fail(fmt::format("the code at {:#x} has changed", function.value));
  if (!write(**breakpoint, *jump, stopped)) return cannot_write(jump->address);
  (*breakpoint)->is_lifted = true;
  jump->use = (*breakpoint)->use;
  return jump;
}

bool EntryConversion::write(const Site& breakpoint, Site& jump, Tid stopped) {
  jump.is_lifted = false;  // before the text: a thread may be there at once
  jump.armed_at = boottime_ns();
  const SiteText text = ours_.text();
  if (text.put_in_first(jump, stopped) && text.put_back(breakpoint, stopped)) return true;
  jump.is_lifted = text.put_back(jump, stopped) || !text.is_set(jump);
  return false;
}

}  // namespace fade
