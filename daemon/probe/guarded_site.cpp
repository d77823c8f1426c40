// Sites at libc functions that decide about SIGTRAP.
//
// Before the moved instruction, their slots lead through a guard of the net (net_code.S). And pthread_sigmask is reached by
// a jump, not by an int3: between fork and exec of posix_spawn(3), system(3) and popen(3) libc calls it with all signals
// blocked, and an int3 that meets a blocked SIGTRAP kills where no tracer is. The jump leads to a pad, which asks the
// kernel what is blocked, and executes its int3 only where that is harmless. What is common to all jumps is here, too.
#include <algorithm>
#include <cstring>

#include "base/clock.hpp"
#include "probe/address_space.hpp"

namespace fade {
namespace {

constexpr std::uint8_t kInt3 = 0xCC, kJump = 0xE9;
// lea behind this(%rip), %r11; movabs $guard, %rax; jmp *%rax
constexpr std::array<std::uint8_t, Site::kGuardSize> kThroughGuard{0x4C, 0x8D, 0x1D, 12, 0, 0, 0, 0x48, 0xB8, 0,
                                                                   0,    0,    0,    0,  0, 0, 0, 0xFF, 0xE0};
constexpr std::size_t kGuardAt = 9;

constexpr auto kPad = std::to_array<std::uint8_t>({
    0x49, 0x89, 0xF0,                    // mov %rsi, %r8
    0x49, 0x89, 0xD1,                    // mov %rdx, %r9
    0x31, 0xF6,                          // xor %esi, %esi
    0x48, 0x8D, 0x54, 0x24, 0xF8,        // lea -8(%rsp), %rdx
    0x41, 0xBA, 8, 0, 0, 0,              // mov $8, %r10d
    0xB8, 14, 0, 0, 0,                   // mov $14 (rt_sigprocmask), %eax
    0x0F, 0x05,                          // syscall
    0x4C, 0x89, 0xC6,                    // mov %r8, %rsi
    0x4C, 0x89, 0xCA,                    // mov %r9, %rdx
    0xF6, 0x44, 0x24, 0xF8, 0x10,        // testb $0x10, -8(%rsp)
    0x75, 0x01,                          // jnz over the int3
    kInt3,                               // kPadTrapAt
    kJump, 0,    0,    0,    0,          // jmp to the moved instruction, past the guard
});
static_assert(kPad[Site::kPadTrapAt] == kInt3 && kPad.size() == Site::kPadTrapAt + 6 && kPad.size() <= kSlotSize);

std::vector<std::uint8_t> pad_code(const Site& site) {
  if (site.is_entry_jump()) return site.entry_pad().code(site.pad(), site.slot);
  std::vector<std::uint8_t> out(kPad.begin(), kPad.end());
  const std::size_t at = Site::kPadTrapAt + 1;
  const auto last = jump_code(site.pad() + at, site.slot + Site::kGuardSize);
  std::ranges::copy(last, out.begin() + at);
  return out;
}

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
  if (site.guard == Guard::None) return relocate(bytes, site.address, site.slot);
  auto moved = relocate(bytes, site.address, site.slot + Site::kGuardSize);
  if (!moved) return moved;
  std::vector<std::uint8_t> code(kThroughGuard.begin(), kThroughGuard.end());
  const std::uint64_t guard = net_->guard_code(site.guard).value;
  std::memcpy(code.data() + kGuardAt, &guard, sizeof guard);
  code.insert(code.end(), moved->code.begin(), moved->code.end());
  if (code.size() > kSlotSize) return fail("no slot has room for a guard and the instruction");
  return RelocatedInstruction{std::move(code), moved->length};
}

// One instruction that has room for a jump, and that can be read from where it was moved to.
bool AddressSpace::can_jump(RemoteAddr address) const {
  const auto bytes = memory_.value<std::array<std::uint8_t, 16>>(address);
  if (!bytes) return false;
  const auto moved = relocate(*bytes, address, address);
  return moved && moved->length >= 5 && std::equal(bytes->begin(), bytes->begin() + moved->length, moved->code.begin());
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
                    net_->set(memory_, stopped, site.table_entry()) && net_->set(memory_, stopped, site.pad_entry()) && put_in(site, stopped);
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
  const auto moved = memory_.value<std::array<std::uint8_t, 5>>(site.slot + (site.guard == Guard::None ? 0 : Site::kGuardSize));
  const auto wanted = pad_code(site);
  std::vector<std::uint8_t> pad(wanted.size());
  if (!moved || (*moved)[0] != site.original || !memory_.read_exactly(site.pad(), std::as_writable_bytes(std::span(pad))) || pad != wanted)
    return false;
  std::copy_n(moved->begin() + 1, site.behind.size(), site.behind.begin());
  return true;
}

}  // namespace fade
