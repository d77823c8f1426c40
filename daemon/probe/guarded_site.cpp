// Sites that keep int3 harmless where a fade was killed (guard_pad.hpp), and what is common to all jumps.
#include <algorithm>
#include <optional>

#include "base/clock.hpp"
#include "probe/address_space.hpp"

namespace fade {
namespace {

constexpr std::uint8_t kInt3 = 0xCC;

std::array<std::uint8_t, 5> original_text(const Site& site) {
  return {site.original, site.behind[0], site.behind[1], site.behind[2], site.behind[3]};
}

template <class Bytes>
std::span<const std::byte> as_bytes(const Bytes& code) {
  return std::as_bytes(std::span(code));
}

}  // namespace

// Behind an endbr64, which changes nothing.
RemoteAddr AddressSpace::guarded_address(RemoteAddr function) const {
  return memory_.value<std::array<std::uint8_t, 4>>(function) == kEndbr64 ? function + kEndbr64.size() : function;
}

Result<RelocatedInstruction> AddressSpace::guarded_code(std::span<const std::uint8_t> bytes, const Site& site) const {
  if (site.is_entry_jump()) return relocate_entry(bytes, site.address, site.slot);
  auto moved = relocate(bytes, site.address, site.moved());
  if (moved && site.is_guard_jump()) keep_padding(*moved, bytes);
  if (!moved || !form_of(site.guard).leads_through_net) return moved;
  std::vector<std::uint8_t> code = way_through_net(net_->guard_code(site.guard));
  code.insert(code.end(), moved->code.begin(), moved->code.end());
  if (code.size() > kSlotSize) return fail("no slot has room for a guard and the instruction");
  return RelocatedInstruction{std::move(code), moved->length};
}

std::vector<std::uint8_t> AddressSpace::pad_code(const Site& site) const {
  if (site.is_entry_jump()) return site.entry_pad().code(site.pad(), site.slot);
  // The pads with an int3 go past the net's code: a thread that has SIGTRAP blocked already cannot lose it.
  const RemoteAddr after = site.guard == Guard::Clone ? site.slot : site.moved();
  return guard_pad(site.guard, site.pad(), after, net_->guard_code(site.guard));
}

bool AddressSpace::can_jump(RemoteAddr address, Guard guard) const {
  const auto bytes = memory_.value<std::array<std::uint8_t, 16>>(address);
  return bytes && guard_jump_length(guard, *bytes, address);
}

std::optional<RemoteAddr> AddressSpace::behind_system_call(RemoteAddr function) const {
  constexpr std::array<std::uint8_t, 8> kWanted{0x0F, 0x05, 0x48, 0x3D, 0x01, 0xF0, 0xFF, 0xFF};  // syscall; cmp $-4095, %rax
  const auto code = memory_.value<std::array<std::uint8_t, 48>>(function);
  if (!code) return std::nullopt;
  const auto [begin, end] = std::ranges::search(*code, kWanted);
  return begin == end ? std::nullopt : std::optional(function + static_cast<std::uint64_t>(begin - code->begin()) + 2);
}

bool AddressSpace::set_guarded(bool guarded, pid_t stopped) {
  is_guarded_ = guarded;
  return net_ && net_->set_guarded(memory_, stopped, guarded);
}

// Whether a jump covers the byte, its own first one excepted.
bool AddressSpace::is_under_jump(RemoteAddr address) const {
  for (std::uint64_t back = 1; back < 16; ++back)
    if (const auto it = sites_.find(address - back); it != sites_.end() && it->second.is_entry_jump() && it->second.length > back) return true;
  return false;
}

Result<Site> AddressSpace::make_jump(RemoteAddr address, Guard guard, pid_t stopped) {
  const auto slot = slots_for(Way::Jump, address, stopped);
  if (!slot) return tl::unexpected(slot.error());
  const auto bytes = memory_.value<std::array<std::uint8_t, 16>>(address);
  if (!bytes) return fail("the code of a function cannot be read");
  Site site{.address = address, .slot = *slot, .original = (*bytes)[0], .guard = guard, .way = Way::Jump,
            .armed_at = boottime_ns()};
  std::copy_n(bytes->begin() + 1, site.behind.size(), site.behind.begin());
  const auto moved = guarded_code(*bytes, site);
  if (!moved) return tl::unexpected(moved.error());
  site.length = moved->length;
  const bool done = memory_.write(site.slot, as_bytes(moved->code), stopped) &&
                    memory_.write(site.pad(), as_bytes(pad_code(site)), stopped) &&
                    net_->set(memory_, stopped, site.table_entry()) &&
                    (!site.has_pad_entry() || net_->set(memory_, stopped, site.pad_entry())) && put_in(site, stopped);
  return done ? Result<Site>(site) : fail("cannot write a jump into the process");
}

// Other threads may be about to come here. Within an aligned word they meet either what was there or what comes. Else
// whoever meets a half-written jump meets an int3, which should we die just then kills who blocks SIGTRAP.
bool AddressSpace::write_text(const Site& site, std::array<std::uint8_t, 5> bytes, pid_t stopped) const {
  const RemoteAddr word_at{site.address.value & ~std::uint64_t{7}};
  const std::uint64_t skip = site.address - word_at;
  if (auto word = memory_.value<std::array<std::uint8_t, 8>>(word_at); word && skip + bytes.size() <= word->size()) {
    std::ranges::copy(bytes, word->begin() + static_cast<std::ptrdiff_t>(skip));
    return memory_.write(word_at, as_bytes(*word), stopped);
  }
  return memory_.write(site.address, std::as_bytes(std::span(&kInt3, 1)), stopped) &&
         memory_.write(site.address + 1, as_bytes(bytes).subspan(1), stopped) &&
         memory_.write(site.address, as_bytes(bytes).first(1), stopped);
}

bool AddressSpace::put_in(const Site& site, pid_t stopped) const {
  if (site.way == Way::Jump) return write_text(site, jump_code(site.address, site.pad()), stopped);
  return memory_.write(site.address, std::as_bytes(std::span(&kInt3, 1)), stopped);
}

bool AddressSpace::put_back(const Site& site, pid_t stopped) const {
  if (site.way == Way::Jump) return write_text(site, original_text(site), stopped);
  return memory_.write(site.address, std::as_bytes(std::span(&site.original, 1)), stopped);
}

// An int3, or the jump; of a jump that was begun, the int3 counts.
bool AddressSpace::is_set(const Site& site) const {
  if (memory_.value<std::uint8_t>(site.address) == kInt3) return true;
  return site.way == Way::Jump &&
         memory_.value<std::array<std::uint8_t, 5>>(site.address) == jump_code(site.address, site.pad());
}

// By others. A library that was closed, and perhaps opened again at its place, took our jump with it.
bool AddressSpace::is_written_over(const Site& site) const {
  if (is_set(site)) return false;
  const auto text = memory_.value<std::array<std::uint8_t, 5>>(site.address);
  return text && *text != original_text(site) && !is_set(site);
}

// The bytes of a site as they were, read from where they were moved to. False: what stands in the slots is not what we
// would have written there.
bool AddressSpace::recover_text(Site& site) const {
  if (site.way != Way::Jump) return true;
  if (site.is_entry_jump()) {
    std::array<std::uint8_t, EntryPad::kMostCode> code{};
    memory_.read(site.pad(), std::as_writable_bytes(std::span(code)));
    const EntryPad found = EntryPad::like(code);
    site.lead.depth = found.depth;
    site.shows_words = found.with_words;
  }
  const auto moved = memory_.value<std::array<std::uint8_t, 5>>(site.moved());
  const auto wanted = pad_code(site);
  std::vector<std::uint8_t> pad(wanted.size());
  if (!moved || (*moved)[0] != site.original || !memory_.read_exactly(site.pad(), std::as_writable_bytes(std::span(pad))) || pad != wanted)
    return false;
  std::copy_n(moved->begin() + 1, site.behind.size(), site.behind.begin());
  return true;
}

}  // namespace fade
