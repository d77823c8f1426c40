// Memory that processes offered to each other. The bytes of a handle (hipIpcMemHandle_t, hipMemPoolPtrExportData) name
// the allocation that they were made for, whichever process shows them again. Bounded: the oldest is forgotten.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>

#include "store/call_view.hpp"
#include "store/memory_ledger.hpp"

namespace fade::store {

class SharedHandles {
 public:
  using Handle = std::array<std::byte, 64>;
  struct Offer {
    Owner owner;
    std::uint64_t bytes = 0;  // of the whole allocation; 0: not known
  };
  static constexpr std::size_t kMost = 1 << 16;

  // The handle that a call received or shows; nullopt if it could not be read.
  static std::optional<Handle> of(const CallView& view);

  // The same bytes once more mean the new allocation.
  void add(const Handle& handle, const Offer& offer);
  const Offer* find(const Handle& handle) const;

 private:
  std::map<Handle, Offer> offers_;
  std::deque<Handle> order_;  // of the first time
};

}  // namespace fade::store
