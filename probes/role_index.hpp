// The place of each role's value in the calls of a probe. Computed once, because every call needs several roles and has
// no value for most of them.
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

// The only value of a role, if it is all or the low bytes of one word. Most roles have no value or such a value.
struct RoleWord {
  enum class In : std::uint8_t { Nowhere, Register, Stack, Elsewhere };
  In in = In::Nowhere;
  std::uint8_t word = 0;  // index into CallRecord::words, or into the words on the stack
  std::uint64_t mask = 0;
};

struct RolePlace {
  bool in_memory = false;      // in memory behind a pointer; else in the argument itself
  std::uint8_t parameter = 0;  // index into Probe::parameters
  Location at;                 // of that parameter
  std::uint32_t offset = 0;    // of a field, else 0
  std::uint32_t size = 0;      // bytes
};

class RoleIndex {
 public:
  explicit RoleIndex(const Probe& probe);

  // The places of a role: parameters, then fields. The first readable place counts.
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

// A probe's index, built at the first use. Thread-safe. A copy of the probe begins without an index.
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
