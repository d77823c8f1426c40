#include "probe/site_arming.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "base/clock.hpp"

namespace fade {
namespace {

std::span<const std::byte> slot_bytes(std::span<const std::uint8_t> code) { return std::as_bytes(code); }

bool can_jump(const Memory& memory, RemoteAddr address, Guard guard) {
  const auto bytes = memory.value<std::array<std::uint8_t, 16>>(address);
  return bytes && guard_jump_length(guard, *bytes, address);
}

}  // namespace

RemoteAddr guarded_address(const Memory& memory, RemoteAddr function) {
  return memory.value<std::array<std::uint8_t, 4>>(function) == kEndbr64 ? function + kEndbr64.size() : function;
}

std::optional<RemoteAddr> behind_system_call(const Memory& memory, RemoteAddr function) {
  constexpr std::array<std::uint8_t, 8> kWanted{0x0F, 0x05, 0x48, 0x3D,
                                                0x01, 0xF0, 0xFF, 0xFF};  // syscall; cmp $-4095, %rax
  const auto code = memory.value<std::array<std::uint8_t, 48>>(function);
  if (!code) return std::nullopt;
  const auto found = std::search(code->begin(), code->end(), kWanted.begin(), kWanted.end());
  if (found == code->end()) return std::nullopt;
  return function + static_cast<std::uint64_t>(found - code->begin()) + 2;
}

Result<Site*> SiteArming::arm(RemoteAddr address, Tid stopped, Guard guard) {
  if (guard != Guard::None) address = guarded_address(ours_.memory(), address);
  Site* known = sites_.of_function(address);
  if (known && !known->is_lifted) return known;
  if (auto may = may_arm(address); !may) return tl::unexpected(may.error());
  // A thread may be in the bytes under a jump by now.
  if (known && known->guard == guard && !known->is_entry_jump() && set_again(*known, stopped)) return known;
  if (auto room = ours_.make_room(sites_, stopped); !room) return tl::unexpected(room.error());
  const auto site = make_site(address, guard, stopped);
  if (!site) return tl::unexpected(site.error());
  return sites_.keep(*site);
}

Result<void> SiteArming::may_arm(RemoteAddr address) const {
  if (!ours_.net()) return fail("the process was not prepared for breakpoints");
  if (sites_.is_closed()) return fail("the process is watched no longer");
  if (sites_.is_under_jump(address))
    return fail(fmt::format("{:#x} is in the middle of another breakpoint", address.value));
  return {};
}

bool SiteArming::set_again(Site& site, Tid stopped) const {
  std::uint8_t bytes[16];
  const std::size_t got = ours_.memory().read(site.address, std::as_writable_bytes(std::span(bytes)));
  const SiteText text = ours_.text();
  if (!text.is_of_slot(site, std::span(bytes).first(got)) || !text.put_in(site, stopped)) return false;
  site.is_lifted = false;
  site.armed_at = boottime_ns();
  return true;
}

Result<Site> SiteArming::make_site(RemoteAddr address, Guard guard, Tid stopped) {
  const GuardForm& form = form_of(guard);
  if (form.jumps && can_jump(ours_.memory(), address, guard)) return make_jump(address, guard, stopped);
  if (form.needs_jump) return fail(fmt::format("no jump can stand at {:#x}", address.value));
  return make_trap(address, guard, stopped);
}

Result<Site> SiteArming::make_trap(RemoteAddr address, Guard guard, Tid stopped) {
  const auto slot = ours_.slot_for(Way::Trap, address, stopped);
  if (!slot) return tl::unexpected(slot.error());
  auto site = make_trap_with(*slot, address, guard, stopped);
  if (!site) ours_.give_back(Way::Trap, *slot);
  return site;
}

Result<Site> SiteArming::make_trap_with(RemoteAddr slot, RemoteAddr address, Guard guard, Tid stopped) {
  std::uint8_t bytes[16];
  const std::size_t got = ours_.memory().read(address, std::as_writable_bytes(std::span(bytes)));
  Site site{.address = address, .slot = slot, .original = bytes[0], .guard = guard, .armed_at = boottime_ns()};
  auto moved = ours_.text().slot_code(std::span(bytes).first(got), site);
  if (!moved) return tl::unexpected(moved.error());
  site.length = moved->length;
  if (!ours_.memory().write(slot, slot_bytes(moved->code), stopped) || !ours_.enter(site, stopped))
    return fail(fmt::format("no room for a breakpoint at {:#x}", address.value));
  if (!ours_.text().put_in(site, stopped))
    return fail(fmt::format("cannot write a breakpoint at {:#x}", address.value));
  return site;
}

Result<Site> SiteArming::make_jump(RemoteAddr address, Guard guard, Tid stopped) {
  const auto slot = ours_.slot_for(Way::Jump, address, stopped);
  if (!slot) return tl::unexpected(slot.error());
  const auto bytes = ours_.memory().value<std::array<std::uint8_t, 16>>(address);
  if (!bytes) return fail("the code of a function cannot be read");
  Site site{.address = address,
            .slot = *slot,
            .original = (*bytes)[0],
            .guard = guard,
            .way = Way::Jump,
            .armed_at = boottime_ns()};
  std::copy_n(bytes->begin() + 1, site.behind.size(), site.behind.begin());
  const auto moved = ours_.text().slot_code(*bytes, site);
  if (!moved) return tl::unexpected(moved.error());
  site.length = moved->length;
  const bool done = ours_.memory().write(site.slot, slot_bytes(moved->code), stopped) &&
                    ours_.memory().write(site.pad(), slot_bytes(ours_.text().pad_code(site)), stopped) &&
                    ours_.enter(site, stopped) && ours_.text().put_in(site, stopped);
  return done ? Result<Site>(site) : fail("cannot write a jump into the process");
}

}  // namespace fade
