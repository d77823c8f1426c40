// Sites that keep int3 harmless after fade was killed (guard_pad.hpp).
#include <algorithm>
#include <optional>

#include "base/clock.hpp"
#include "probe/address_space.hpp"

namespace fade {
namespace {

template <class Bytes>
std::span<const std::byte> as_bytes(const Bytes& code) {
  return std::as_bytes(std::span(code));
}

}  // namespace

// The address after an endbr64, which changes nothing.
RemoteAddr AddressSpace::guarded_address(RemoteAddr function) const {
  return memory_.value<std::array<std::uint8_t, 4>>(function) == kEndbr64 ? function + kEndbr64.size() : function;
}

bool AddressSpace::can_jump(RemoteAddr address, Guard guard) const {
  const auto bytes = memory_.value<std::array<std::uint8_t, 16>>(address);
  return bytes && guard_jump_length(guard, *bytes, address);
}

std::optional<RemoteAddr> AddressSpace::behind_system_call(RemoteAddr function) const {
  constexpr std::array<std::uint8_t, 8> kWanted{0x0F, 0x05, 0x48, 0x3D,
                                                0x01, 0xF0, 0xFF, 0xFF};  // syscall; cmp $-4095, %rax
  const auto code = memory_.value<std::array<std::uint8_t, 48>>(function);
  if (!code) return std::nullopt;
  const auto [begin, end] = std::ranges::search(*code, kWanted);
  return begin == end ? std::nullopt : std::optional(function + static_cast<std::uint64_t>(begin - code->begin()) + 2);
}

bool AddressSpace::set_guarded(bool guarded, pid_t stopped) {
  is_guarded_ = guarded;
  return net_ && net_->set_guarded(memory_, stopped, guarded);
}

Result<Site> AddressSpace::make_jump(RemoteAddr address, Guard guard, pid_t stopped) {
  const auto slot = slot_for(Way::Jump, address, stopped);
  if (!slot) return tl::unexpected(slot.error());
  const auto bytes = memory_.value<std::array<std::uint8_t, 16>>(address);
  if (!bytes) return fail("the code of a function cannot be read");
  Site site{.address = address,
            .slot = *slot,
            .original = (*bytes)[0],
            .guard = guard,
            .way = Way::Jump,
            .armed_at = boottime_ns()};
  std::copy_n(bytes->begin() + 1, site.behind.size(), site.behind.begin());
  const auto moved = text().slot_code(*bytes, site);
  if (!moved) return tl::unexpected(moved.error());
  site.length = moved->length;
  const bool done = memory_.write(site.slot, as_bytes(moved->code), stopped) &&
                    memory_.write(site.pad(), as_bytes(text().pad_code(site)), stopped) &&
                    net_->set(memory_, stopped, site.table_entry()) &&
                    (!site.has_pad_entry() || net_->set(memory_, stopped, site.pad_entry())) &&
                    text().put_in(site, stopped);
  return done ? Result<Site>(site) : fail("cannot write a jump into the process");
}

}  // namespace fade
