#include "probes/call_words.hpp"

#include <algorithm>

namespace fade::probes {
namespace {

constexpr std::size_t kWordSize = sizeof(std::uint64_t), kWordRegisterCount = 6, kStackWordCount = 32;

}  // namespace

// Registers come first in words_: a word on the stack that was added before is moved behind.
bool CallWords::add(bool on_stack, std::uint8_t at, std::uint64_t mask) {
  const auto begin = words_.begin() + (on_stack ? registers_ : 0),
             end = words_.begin() + (on_stack ? size_ : registers_);
  if (const auto known = std::find_if(begin, end, [&](const Word& w) { return w.at == at; }); known != end) {
    known->mask |= mask;
    return true;
  }
  if (size_ == kMost) return false;
  std::copy_backward(end, words_.begin() + size_, words_.begin() + size_ + 1);
  *end = {at, mask};
  ++size_;
  if (on_stack) stack_bytes_ = std::max<std::uint32_t>(stack_bytes_, static_cast<std::uint32_t>((at + 1u) * kWordSize));
  else ++registers_;
  return true;
}

bool CallWords::add(const RolePlace& place) {
  const bool on_stack = place.at.where == Location::Where::Stack;
  if (place.in_memory || place.size == 0 || !(on_stack || place.at.where == Location::Where::Integer)) return false;
  const std::size_t begin = place.at.first * kWordSize + place.offset, end = begin + place.size;
  if (end > (on_stack ? kStackWordCount : kWordRegisterCount) * kWordSize) return false;
  for (std::size_t byte = begin; byte < end; ++byte)
    if (!add(on_stack, static_cast<std::uint8_t>(byte / kWordSize), std::uint64_t{0xff} << byte % kWordSize * 8))
      return false;
  return true;
}

}  // namespace fade::probes
