#include "ptrace/signal_frame.hpp"

#include <array>
#include <cstddef>
#include <optional>

namespace fade {
namespace {

constexpr std::uint64_t kMostStack = 128 * 1024, kChunk = 16 * 1024;
constexpr std::uint64_t kUserCode = 0x33;  // cs of 64-bit code

struct KernelFrame {
  RemoteAddr restorer;
  std::uint64_t flags, link, stack[3], registers[16];
  RemoteAddr ip;
  std::uint64_t eflags, segments, error[4];
  RemoteAddr fpstate;
  std::uint64_t reserved[8], mask;
};
static_assert(offsetof(KernelFrame, ip) == 176 && offsetof(KernelFrame, fpstate) == 232 &&
              offsetof(KernelFrame, mask) == 304);

constexpr bool is_user_code(std::uint64_t segments) { return (segments & 0xffff) == kUserCode; }

// Words alone prove nothing. A frame counts only if it is complete, with the state of the other registers at its place.
std::optional<KernelFrame> frame_at(const Memory& memory, RemoteAddr at) {
  constexpr std::uint32_t kBegin = 0x46505853, kEnd = 0x46505845;  // FP_XSTATE_MAGIC1 and 2
  constexpr std::uint64_t kBeginAt = 464, kMostState = 16 * 1024;
  const auto frame = memory.value<KernelFrame>(at);
  if (!frame || frame->link != 0 || frame->flags > 7 || !is_user_code(frame->segments)) return std::nullopt;
  if (frame->fpstate < at || frame->fpstate - at > kMostState) return std::nullopt;
  const auto begin = memory.value<std::array<std::uint32_t, 2>>(frame->fpstate + kBeginAt);
  if (!begin || (*begin)[0] != kBegin || (*begin)[1] < 4 || (*begin)[1] > kMostState) return std::nullopt;
  if (memory.value<std::uint32_t>(frame->fpstate + (*begin)[1] - 4) != kEnd) return std::nullopt;
  return frame;
}

}  // namespace

// A thread that has returned from its handler and not yet called rt_sigreturn is one word above its frame.
std::vector<SignalFrame> signal_frames(const Memory& memory, RemoteAddr sp) {
  const RemoteAddr lowest{(sp.value & ~std::uint64_t{7}) - sizeof(std::uint64_t)};
  std::vector<SignalFrame> out;
  std::vector<std::uint64_t> words(kChunk / sizeof(std::uint64_t));
  RemoteAddr at = lowest + offsetof(KernelFrame, segments);
  for (std::uint64_t left = kMostStack; left > 0; left -= kChunk, at = at + kChunk) {
    const std::size_t got = memory.read(at, std::as_writable_bytes(std::span(words)));
    for (std::size_t i = 0; i < got / sizeof words[0]; ++i) {
      if (!is_user_code(words[i])) continue;
      const RemoteAddr begin = at + i * sizeof words[0] - offsetof(KernelFrame, segments);
      if (const auto frame = frame_at(memory, begin))
        out.push_back({begin, frame->restorer, frame->ip, {frame->registers[15]}, frame->mask});
    }
    if (got < kChunk) break;
  }
  return out;
}

}  // namespace fade
