#include "stack/stack_snapshot.hpp"

#include <algorithm>

namespace fade {

std::span<std::byte> StackSnapshot::Part::room(std::size_t n) {
  if (bytes.size() < n) bytes.resize(n);
  return std::span(bytes).first(n);
}

const std::byte* StackSnapshot::Look::elsewhere(RemoteAddr from, std::size_t n) {
  if (const std::byte* found = of_.stack_.find(from, n)) {
    last_ = &of_.stack_;
    return found;
  }
  for (const Part& part : std::span(of_.more_).first(of_.used_))
    if (const std::byte* found = part.find(from, n)) {
      last_ = &part;
      return found;
    }
  return nullptr;
}

// The stack comes last: it may end within the window, and nothing after an unmapped address is read.
void StackSnapshot::take(const ProcessMemory& memory, RemoteAddr sp, std::span<const RemoteRange> more,
                         std::size_t window) {
  memory_ = &memory;
  std::array<ProcessMemory::Piece, kMostRanges + 1> pieces;
  used_ = std::min(more.size(), kMostRanges);
  for (std::size_t i = 0; i < used_; ++i) {
    more_[i].at = more[i].begin;
    pieces[i] = {more[i].begin, more_[i].room(std::min<std::size_t>(more[i].size(), kMostOfRange))};
  }
  stack_.at = sp;
  pieces[used_] = {sp, stack_.room(window)};
  memory.read_all(std::span(pieces).first(used_ + 1));
  is_complete_ = true;
  for (std::size_t i = 0; i < used_; ++i) {
    more_[i].size = pieces[i].got;
    is_complete_ &= pieces[i].got == pieces[i].into.size();
  }
  stack_.size = pieces[used_].got;
}

std::size_t StackSnapshot::read(RemoteAddr from, std::span<std::byte> into) const {
  const auto copy = [into](const std::byte* bytes) {
    if (bytes) std::copy_n(bytes, into.size(), into.data());
    return bytes != nullptr;
  };
  if (copy(stack_.find(from, into.size()))) return into.size();
  for (const Part& part : std::span(more_).first(used_))
    if (copy(part.find(from, into.size()))) return into.size();
  if (read_on(from + into.size()) && copy(stack_.find(from, into.size()))) return into.size();
  return memory_ ? memory_->read(from, into) : 0;
}

// Only extends the read bytes at their end, and only up to a limit.
bool StackSnapshot::read_on(RemoteAddr to) const {
  const std::size_t had = stack_.size;
  const std::uint64_t wanted = to.value - stack_.at.value;
  if (wanted <= had || wanted > std::min(kMostOfStack, had + 4 * kWindow)) return false;
  const auto bytes = stack_.room((wanted + kWindow - 1) / kWindow * kWindow);
  stack_.size = had + memory_->read(stack_.at + had, bytes.subspan(had));
  return true;
}

}  // namespace fade
