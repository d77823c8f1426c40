// The evidence for a stack: the words of memory and the registers that it was computed from, and the time until which
// cached facts about Python's code hold. While the evidence is unchanged, the stack is unchanged. A saved register that
// no frame was found by is not evidence: any value is accepted. Bounded.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "base/remote.hpp"
#include "stack/frame_registers.hpp"

namespace fade {

class StackEvidence {
 public:
  void clear();
  // Records that the first `size` bytes at `at`, 1, 4 or 8, were the low bytes of `value`.
  void word(RemoteAddr at, std::uint64_t value, std::size_t size = sizeof(std::uint64_t));
  // Records a register of the frame that the walk began with.
  void begins_with(std::size_t number, std::uint64_t value);
  // The evidence holds only before that moment, on the clock of PythonStacks::clock_ms().
  void until(std::uint64_t ms) { until_ms_ = std::min(until_ms_, ms); }
  // The stack also depends on facts that cannot be compared later.
  void give_up() { is_whole_ = false; }

  bool is_whole() const { return is_whole_; }
  // look.at(address, n) gives the current n bytes, or null if they were not read (StackSnapshot::Look): then the
  // evidence does not hold.
  template <class Look>
  bool holds(const FrameRegisters& frame, Look&& look, std::uint64_t ms) const {
    if (!is_whole_ || ms >= until_ms_ || !begins_as(frame)) return false;
    for (const Word& word : words_) {
      const std::byte* bytes = look.at({word.place & kAddress}, word.place >> kSizeShift);
      if (!bytes || std::memcmp(bytes, &word.value, word.place >> kSizeShift) != 0) return false;
    }
    return true;
  }
  std::size_t words() const { return words_.size(); }

 private:
  struct Word {
    std::uint64_t place;  // address, and in the upper bits the size
    std::uint64_t value;
  };
  static constexpr int kSizeShift = 60;
  static constexpr std::uint64_t kAddress = (std::uint64_t{1} << kSizeShift) - 1;
  bool begins_as(const FrameRegisters& frame) const;

  static constexpr std::size_t kMostWords = 1024;
  static constexpr std::uint64_t kForEver = std::numeric_limits<std::uint64_t>::max();

  std::vector<Word> words_;
  std::array<std::uint64_t, FrameRegisters::kCount> registers_{};
  std::uint32_t used_ = 0;  // bit i: registers_[i]
  std::uint64_t until_ms_ = kForEver;
  bool is_whole_ = true;
};

}  // namespace fade
