#include "store/launch_memo.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace fade::store {

using probes::Role;

namespace {
constexpr Role kLaunchRoles[] = {Role::Kernel, Role::Grid,   Role::GridX,  Role::GridY,       Role::GridZ, Role::Block,
                                 Role::BlockX, Role::BlockY, Role::BlockZ, Role::SharedBytes, Role::Stream};
constexpr std::size_t kWord = sizeof(std::uint64_t);
}  // namespace

LaunchWords::LaunchWords(const probes::Probe& probe) {
  if (probe.kind != probes::Kind::Launch || !probe.with_role(Role::Kernel)) return;
  for (const Role role : kLaunchRoles)
    for (const probes::RolePlace& place : probe.places(role))
      if (!words_.add(place)) {
        words_ = {};
        return;
      }
}

std::uint64_t LaunchWords::read(const CallRecord& record, probes::Payload payload, Values& values) const {
  std::uint64_t hash = size();
  std::size_t n = 0;
  const auto take = [&](std::uint64_t word, std::uint64_t mask) {
    values[n] = word & mask;
    hash = (std::rotl(hash, 5) ^ values[n++]) * 0x9E3779B97F4A7C15u;
  };
  for (const auto& word : words_.registers()) take(record.words[word.at], word.mask);
  const std::uint32_t stack_bytes = words_.stack_bytes();
  if (stack_bytes == 0) return hash;
  PieceHeader header;
  if (payload.size() < sizeof header + stack_bytes) return 0;
  std::memcpy(&header, payload.data(), sizeof header);
  if (header.kind != PieceKind::Stack || header.param != 0 || header.size < stack_bytes) return 0;
  for (const auto& place : words_.on_stack()) {
    std::uint64_t word;
    std::memcpy(&word, payload.data() + sizeof header + place.at * kWord, kWord);
    take(word, place.mask);
  }
  return hash;
}

}  // namespace fade::store
