#include "stack/stack_evidence.hpp"

namespace fade {

void StackEvidence::clear() {
  words_.clear();
  used_ = 0;
  until_ms_ = kForEver;
  is_whole_ = true;
}

void StackEvidence::word(RemoteAddr at, std::uint64_t value, std::size_t size) {
  if (words_.size() >= kMostWords || at.value > kAddress) return give_up();
  words_.push_back({at.value | std::uint64_t{size} << kSizeShift, value});
}

void StackEvidence::begins_with(std::size_t number, std::uint64_t value) {
  registers_[number] = value;
  used_ |= 1U << number;
}

bool StackEvidence::begins_as(const FrameRegisters& frame) const {
  for (std::size_t i = 0; i < registers_.size(); ++i)
    if ((used_ >> i & 1) != 0 && (!frame.has(i) || frame[i] != registers_[i])) return false;
  return true;
}

}  // namespace fade
