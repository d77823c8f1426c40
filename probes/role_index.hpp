// Where in the calls of a probe the value of each role stands. Worked out once, since every call is asked for several roles and
// has most of them nowhere.
#pragma once
#include <array>
#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include "probes/location.hpp"
#include "probes/roles.hpp"

namespace fade::probes {

struct Probe;

// A role's only value, where it is all or the low bytes of one word; most roles are nowhere or in such a place.
struct RoleWord {
  enum class In : std::uint8_t { Nowhere, Register, Stack, Elsewhere };
  In in = In::Nowhere;
  std::uint8_t word = 0;  // index into CallRecord::words, or of a word on the stack
  std::uint64_t mask = 0;
};

struct RolePlace {
  bool in_memory = false;      // that a pointer leads to; else in the argument itself
  std::uint8_t parameter = 0;  // index into Probe::parameters
  Location at;                 // of that parameter
  std::uint32_t offset = 0;    // of a field, else 0
  std::uint32_t size = 0;      // bytes
};

class RoleIndex {
 public:
  explicit RoleIndex(const Probe& probe);

  // The first one that can be read counts: parameters, then fields.
  std::span<const RolePlace> places(Role role) const {
    const auto at = static_cast<std::size_t>(role);
    return {places_.data() + first_[at], static_cast<std::size_t>(first_[at + 1] - first_[at])};
  }
  const RoleWord& word(Role role) const { return words_[static_cast<std::size_t>(role)]; }

 private:
  std::vector<RolePlace> places_;  // by role
  std::array<RoleWord, kRoleCount> words_{};
  std::array<std::uint16_t, kRoleCount + 1> first_{};
};

// A probe's index, from the first question on. Any thread may ask. A copy of the probe begins without one.
class LazyRoleIndex {
 public:
  LazyRoleIndex() = default;
  LazyRoleIndex(const LazyRoleIndex&) noexcept {}
  LazyRoleIndex& operator=(const LazyRoleIndex&) noexcept;
  ~LazyRoleIndex();

  const RoleIndex& of(const Probe& probe) const {
    const RoleIndex* known = index_.load(std::memory_order_acquire);
    return known ? *known : make(probe);
  }

 private:
  const RoleIndex& make(const Probe& probe) const;

  mutable std::atomic<const RoleIndex*> index_{nullptr};
};

}  // namespace fade::probes
