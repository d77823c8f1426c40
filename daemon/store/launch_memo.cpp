#include "store/launch_memo.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace fade::store {

using probes::Location;
using probes::Role;

namespace {
constexpr Role kLaunchRoles[] = {Role::Kernel, Role::Grid,   Role::GridX,  Role::GridY,       Role::GridZ, Role::Block,
                                 Role::BlockX, Role::BlockY, Role::BlockZ, Role::SharedBytes, Role::Stream};
constexpr std::size_t kWord = sizeof(std::uint64_t);
}  // namespace

// Registers come first in words_: a word on the stack that was added before is moved behind.
bool LaunchWords::add(bool on_stack, std::uint8_t at, std::uint64_t mask) {
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
  if (on_stack) stack_bytes_ = std::max<std::uint32_t>(stack_bytes_, (at + 1u) * kWord);
  else ++registers_;
  return true;
}

bool LaunchWords::add(const probes::RolePlace& place) {
  const bool on_stack = place.at.where == Location::Where::Stack;
  if (place.in_memory || place.size == 0 || !(on_stack || place.at.where == Location::Where::Integer)) return false;
  const std::size_t begin = place.at.first * kWord + place.offset, end = begin + place.size;
  if (end > (on_stack ? 32 : std::size(CallRecord{}.words)) * kWord) return false;
  for (std::size_t byte = begin; byte < end; ++byte)
    if (!add(on_stack, static_cast<std::uint8_t>(byte / kWord), std::uint64_t{0xff} << byte % kWord * 8)) return false;
  return true;
}

LaunchWords::LaunchWords(const probes::Probe& probe) {
  if (probe.kind != probes::Kind::Launch || !probe.with_role(Role::Kernel)) return;
  for (const Role role : kLaunchRoles)
    for (const probes::RolePlace& place : probe.places(role))
      if (!add(place)) {
        *this = {};
        return;
      }
}

std::uint64_t LaunchWords::read(const CallRecord& record, probes::Payload payload, Values& values) const {
  std::uint64_t hash = size_;
  const auto take = [&](std::size_t i, std::uint64_t word) {
    values[i] = word & words_[i].mask;
    hash = (std::rotl(hash, 5) ^ values[i]) * 0x9E3779B97F4A7C15u;
  };
  for (std::size_t i = 0; i < registers_; ++i) take(i, record.words[words_[i].at]);
  if (stack_bytes_ == 0) return hash;
  PieceHeader header;
  if (payload.size() < sizeof header + stack_bytes_) return 0;
  std::memcpy(&header, payload.data(), sizeof header);
  if (header.kind != PieceKind::Stack || header.param != 0 || header.size < stack_bytes_) return 0;
  for (std::size_t i = registers_; i < size_; ++i) {
    std::uint64_t word;
    std::memcpy(&word, payload.data() + sizeof header + words_[i].at * kWord, kWord);
    take(i, word);
  }
  return hash;
}

}  // namespace fade::store
