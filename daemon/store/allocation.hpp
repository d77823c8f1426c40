// An allocation as the ledger keeps it, and the places that copies ask about.
#pragma once
#include <cstdint>

#include "probes/memory_action.hpp"
#include "store/freed_memory.hpp"
#include "store/libraries.hpp"
#include "store/memory_trouble.hpp"
#include "store/row_ids.hpp"

namespace fade::store {

// Memory of another process of the recording. process: its row; 0: not known.
struct Owner {
  ProcessRow process = 0;
  std::uint64_t address = 0;  // there
  bool operator==(const Owner&) const = default;
};

struct Allocation {
  std::uint64_t address = 0;  // or the handle
  std::uint64_t bytes = 0;    // of imported and mapped memory: 0 if it is not known
  DeviceRow device = 0;
  MemoryKind kind = MemoryKind::Device;
  Space space = Space::Memory;
  Cause cause{};
  LibraryId library = Libraries::kUnknown;
  Owner owner{};
  std::uint32_t opened = 1;  // how often that of another process was opened: it takes as many closes
};

// The size for rows and sums. Allocations of the ledger have at most the largest signed number of bytes.
inline std::int64_t size_of(const Allocation& allocation) { return static_cast<std::int64_t>(allocation.bytes); }

// Sizes come from the program: sums stop at the end of their range.
inline std::int64_t saturating_sum(std::int64_t a, std::int64_t b) {
  std::int64_t out;
  if (!__builtin_add_overflow(a, b, &out)) return out;
  return b < 0 ? INT64_MIN + 1 : INT64_MAX;
}

// The kind of memory at an address of a copy, as far as the ledger knows.
enum class Place : std::uint8_t { Unknown, Device, Pinned, Managed };

}  // namespace fade::store
