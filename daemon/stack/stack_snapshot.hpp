// Memory of a stopped thread at the time of its stack: the stack from the stack pointer on and the requested ranges,
// read in one system call. Later reads extend the stack, and else read the process as it is at that time.
#pragma once
#include <array>
#include <optional>
#include <vector>

#include "ptrace/process_memory.hpp"

namespace fade {

class StackSnapshot final : public Memory {
 public:
  static constexpr std::size_t kWindow = 16 * 1024;
  static constexpr std::size_t kMostRanges = 20;
  static constexpr std::size_t kMostOfRange = 64 * 1024;

  // Empty until take().
  StackSnapshot() = default;
  // `memory` must outlive the snapshot.
  StackSnapshot(const ProcessMemory& memory, RemoteAddr sp, std::size_t window = kWindow) {
    take(memory, sp, {}, window);
  }

  // Reads `window` bytes of stack from `sp` on, and `more`: at most kMostRanges ranges, kMostOfRange bytes of each.
  void take(const ProcessMemory& memory, RemoteAddr sp, std::span<const RemoteRange> more = {},
            std::size_t window = kWindow);

  // True if all of `more` was read.
  bool is_complete() const { return is_complete_; }

  std::size_t read(RemoteAddr from, std::span<std::byte> into) const override;
  std::optional<std::uint64_t> word(RemoteAddr at) const {
    std::uint64_t out;
    const std::uint64_t offset = at.value - stack_.at.value;
    if (offset >= stack_.size || stack_.size - offset < sizeof out) return value<std::uint64_t>(at);
    std::memcpy(&out, stack_.bytes.data() + offset, sizeof out);
    return out;
  }

 private:
  struct Part {
    RemoteAddr at;
    std::vector<std::byte> bytes;  // grows, never shrinks
    std::size_t size = 0;          // bytes read
    // nullptr: not all `n` bytes are here.
    const std::byte* find(RemoteAddr from, std::size_t n) const {
      const std::uint64_t offset = from.value - at.value;
      return offset > size || size - offset < n ? nullptr : bytes.data() + offset;
    }
    std::span<std::byte> room(std::size_t n);
  };

 public:
  // Reads many words of the taken memory, most of them near each other; reads nothing from the process.
  class Look {
   public:
    explicit Look(const StackSnapshot& of) : of_(of), last_(&of.stack_) {}
    // nullptr: not all `n` bytes were taken.
    const std::byte* at(RemoteAddr from, std::size_t n) {
      const std::byte* found = last_->find(from, n);
      return found ? found : elsewhere(from, n);
    }

   private:
    const std::byte* elsewhere(RemoteAddr from, std::size_t n);
    const StackSnapshot& of_;
    const Part* last_;
  };

 private:
  static constexpr std::size_t kMostOfStack = std::size_t{1} << 20;
  bool read_on(RemoteAddr to) const;

  const ProcessMemory* memory_ = nullptr;
  mutable Part stack_;  // grows at its end
  std::array<Part, kMostRanges> more_;
  std::size_t used_ = 0;  // of more_
  bool is_complete_ = true;
};

}  // namespace fade
