#include "stack/stack_snapshot.hpp"

#include <algorithm>

namespace fade {

bool StackSnapshot::Part::copy(RemoteAddr from, std::span<std::byte> into) const {
  const std::uint64_t offset = from.value - at.value;
  if (offset > bytes.size() || bytes.size() - offset < into.size()) return false;
  std::memcpy(into.data(), bytes.data() + offset, into.size());
  return true;
}

// The stack comes last: it may end within the window, and nothing behind an address that is not mapped is read.
void StackSnapshot::take(const ProcessMemory& memory, RemoteAddr sp, std::span<const RemoteRange> more, std::size_t window) {
  memory_ = &memory;
  std::array<ProcessMemory::Piece, kMostRanges + 1> pieces;
  std::size_t n = 0;
  for (Part& part : more_) part.bytes.clear();
  for (const RemoteRange& range : more.first(std::min(more.size(), kMostRanges))) {
    Part& part = more_[n];
    part.at = range.begin;
    part.bytes.resize(std::min<std::size_t>(range.size(), kWindow));
    pieces[n++] = {part.at, part.bytes};
  }
  stack_.at = sp;
  stack_.bytes.resize(window);
  pieces[n] = {sp, stack_.bytes};
  memory.read_all(std::span(pieces).first(n + 1));
  for (std::size_t i = 0; i < n; ++i) more_[i].bytes.resize(pieces[i].got);
  stack_.bytes.resize(pieces[n].got);
}

std::size_t StackSnapshot::read(RemoteAddr from, std::span<std::byte> into) const {
  if (stack_.copy(from, into)) return into.size();
  for (const Part& part : more_)
    if (part.copy(from, into)) return into.size();
  if (read_on(from + into.size()) && stack_.copy(from, into)) return into.size();
  return memory_ ? memory_->read(from, into) : 0;
}

// Only onwards from what is there, and only so far.
bool StackSnapshot::read_on(RemoteAddr to) const {
  const std::size_t had = stack_.bytes.size();
  const std::uint64_t wanted = to.value - stack_.at.value;
  if (wanted <= had || wanted > std::min(kMostOfStack, had + 4 * kWindow)) return false;
  stack_.bytes.resize((wanted + kWindow - 1) / kWindow * kWindow);
  stack_.bytes.resize(had + memory_->read(stack_.at + had, std::span(stack_.bytes).subspan(had)));
  return true;
}

}  // namespace fade
