#include "probe/guard_pad.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "probe/entry_jump.hpp"
#include "probe/instruction.hpp"

namespace fade {
namespace {

constexpr std::uint8_t kReturn = 0xC3;

// lea behind this(%rip), %r11; movabs $guard, %rcx; jmp *%rcx
constexpr std::array<std::uint8_t, kGuardSize> kThroughNet{0x4C, 0x8D, 0x1D, 12, 0, 0, 0, 0x48, 0xB9, 0,
                                                           0,    0,    0,    0,  0, 0, 0, 0xFF, 0xE1};
constexpr std::size_t kGuardAt = 9;

constexpr auto kMaskPad = std::to_array<std::uint8_t>({
    0x49,  0x89, 0xF0,                 // mov %rsi, %r8
    0x49,  0x89, 0xD1,                 // mov %rdx, %r9
    0x31,  0xF6,                       // xor %esi, %esi
    0x48,  0x8D, 0x54, 0x24, 0xF8,     // lea -8(%rsp), %rdx
    0x41,  0xBA, 8,    0,    0,    0,  // mov $8, %r10d
    0xB8,  14,   0,    0,    0,        // mov $14 (rt_sigprocmask), %eax
    0x0F,  0x05,                       // syscall
    0x4C,  0x89, 0xC6,                 // mov %r8, %rsi
    0x4C,  0x89, 0xCA,                 // mov %r9, %rdx
    0xF6,  0x44, 0x24, 0xF8, 0x10,     // testb $0x10, -8(%rsp)
    0x75,  0x01,                       // jnz over the int3
    kInt3,
});
constexpr std::uint8_t kMaskAsks = 8, kMaskAsked = 29;

constexpr auto kLoaderPad = std::to_array<std::uint8_t>({
    0x48,
    0xB8,
    0,
    0,
    0,
    0,
    0,
    0,
    0,
    0,  // movabs $net_code, %rax
    0xFF,
    0xD0,  // call *%rax
    0x85,
    0xC0,  // test %eax, %eax
    0x74,
    0x01,  // jz over the int3
    kInt3,
});
constexpr std::size_t kLoaderCallAt = 2;

static_assert(kMaskPad.size() + kJumpSize <= kSlotSize && kLoaderPad.size() + kJumpSize <= kSlotSize);

constexpr GuardForm kForms[] = {
    {},
    {.leads_through_net = true},
    {.jumps = true,
     .leads_through_net = true,
     .trap_at = kMaskPad.size() - 1,
     .changed_from = kMaskAsks,
     .changed_to = kMaskAsked},
    {.jumps = true, .trap_at = kLoaderPad.size() - 1},
    {.jumps = true, .leads_through_net = true, .needs_jump = true},
};
static_assert(std::size(kForms) == kGuards + 1);

// Bytes between functions: the nops that assemblers put there, or int3.
bool is_padding(std::span<const std::uint8_t> bytes, std::size_t count) {
  for (std::size_t at = 0; at < count;) {
    const auto in = decode_instruction(bytes.subspan(at));
    if (!in) return false;
    const bool is_nop = (in->map == Instruction::Map::OneByte && (in->opcode == 0x90 || in->opcode == kInt3)) ||
                        (in->map == Instruction::Map::TwoByte0F && in->opcode == 0x1F);
    if (!is_nop) return false;
    at += in->length;
  }
  return true;
}

bool is_return(std::span<const std::uint8_t> bytes, std::uint8_t length) {
  const bool is_repeated = length == 2 && bytes[0] == 0xF3;  // for the branch prediction of old processors
  return (length == 1 || is_repeated) && bytes[length - 1] == kReturn;
}

}  // namespace

const GuardForm& form_of(Guard guard) { return kForms[static_cast<std::size_t>(guard)]; }

std::vector<std::uint8_t> way_through_net(RemoteAddr guard) {
  std::vector<std::uint8_t> out(kThroughNet.begin(), kThroughNet.end());
  std::memcpy(out.data() + kGuardAt, &guard.value, sizeof guard.value);
  return out;
}

std::vector<std::uint8_t> guard_pad(Guard guard, RemoteAddr pad, RemoteAddr after, RemoteAddr net_code) {
  std::vector<std::uint8_t> out;
  if (guard == Guard::Sigmask) out.assign(kMaskPad.begin(), kMaskPad.end());
  if (guard == Guard::Loader) out.assign(kLoaderPad.begin(), kLoaderPad.end());
  if (guard == Guard::Loader) std::memcpy(out.data() + kLoaderCallAt, &net_code.value, sizeof net_code.value);
  const auto jump = jump_code(pad + out.size(), after);
  out.insert(out.end(), jump.begin(), jump.end());
  return out;
}

std::optional<std::uint8_t> guard_jump_length(Guard guard, std::span<const std::uint8_t> bytes, RemoteAddr site) {
  const auto moved = relocate(bytes, site, site);
  if (!moved || moved->length > bytes.size() || moved->length > moved->code.size()) return std::nullopt;
  if (!std::equal(bytes.begin(), bytes.begin() + moved->length, moved->code.begin())) return std::nullopt;
  const std::uint8_t length = moved->length;
  if (length >= kJumpSize) return length;
  const bool is_last = guard == Guard::Loader && is_return(bytes, length);
  return is_last && is_padding(bytes.subspan(length), kJumpSize - length) ? std::optional(length) : std::nullopt;
}

void keep_padding(RelocatedInstruction& moved, std::span<const std::uint8_t> bytes) {
  if (moved.length < kJumpSize && bytes.size() >= kJumpSize)
    moved.code.assign(bytes.begin(), bytes.begin() + kJumpSize);
}

}  // namespace fade
