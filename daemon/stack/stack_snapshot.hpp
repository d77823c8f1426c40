// Memory of a stopped thread as it was when its stack was taken: its stack from the stack pointer on and what else was asked
// for, read in one system call. Where more is needed it reads on, and then from the process as it is at that time.
#pragma once
#include <array>
#include <optional>
#include <vector>

#include "ptrace/process_memory.hpp"

namespace fade {

class StackSnapshot final : public Memory {
 public:
  static constexpr std::size_t kWindow = 16 * 1024;
  static constexpr std::size_t kMostRanges = 4;

  // Empty until take().
  StackSnapshot() = default;
  // `memory` must outlive it.
  StackSnapshot(const ProcessMemory& memory, RemoteAddr sp, std::size_t window = kWindow) { take(memory, sp, {}, window); }

  // `window` bytes of stack from `sp` on, and `more`: kMostRanges at most, kWindow bytes of each.
  void take(const ProcessMemory& memory, RemoteAddr sp, std::span<const RemoteRange> more = {}, std::size_t window = kWindow);

  std::size_t read(RemoteAddr from, std::span<std::byte> into) const override;
  std::optional<std::uint64_t> word(RemoteAddr at) const {
    std::uint64_t out;
    const std::uint64_t offset = at.value - stack_.at.value;
    if (offset >= stack_.bytes.size() || stack_.bytes.size() - offset < sizeof out) return value<std::uint64_t>(at);
    std::memcpy(&out, stack_.bytes.data() + offset, sizeof out);
    return out;
  }

 private:
  struct Part {
    RemoteAddr at;
    std::vector<std::byte> bytes;
    bool copy(RemoteAddr from, std::span<std::byte> into) const;
  };
  static constexpr std::size_t kMostOfStack = std::size_t{1} << 20;
  bool read_on(RemoteAddr to) const;

  const ProcessMemory* memory_ = nullptr;
  mutable Part stack_;  // grows at its end
  std::array<Part, kMostRanges> more_;
};

}  // namespace fade
