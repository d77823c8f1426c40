// The ledger's part for addresses in other calls: the allocation around an address, and later findings about memory of
// other processes.
#include <algorithm>
#include <limits>

#include "store/memory_ledger.hpp"

namespace fade::store {

const Allocation* MemoryLedger::allocation_at(ProcessId process, std::uint64_t address) const {
  for (const Space space : {Space::Memory, Space::Host, Space::Ipc})
    if (const Allocation* found = around(process, space, address)) return found;
  return nullptr;
}

bool MemoryLedger::holds(ProcessId process, Space space, std::uint64_t address) const {
  const auto owner = live_.find(process);
  return owner != live_.end() && owner->second.live.contains({space, address});
}

void MemoryLedger::measure(ProcessId process, std::uint64_t address, std::uint64_t bytes, std::int64_t at) {
  const auto owner = live_.find(process);
  if (owner == live_.end()) return;
  for (const Space space : {Space::Ipc, Space::Memory}) {
    const auto found = owner->second.live.find({space, address});
    if (found == owner->second.live.end() || found->second.kind != MemoryKind::Imported || found->second.bytes != 0)
      continue;
    sums_.recount(process, found->second, at, [&](Allocation& a) {
      a.bytes = std::min<std::uint64_t>(bytes, std::numeric_limits<std::int64_t>::max());
    });
  }
}

}  // namespace fade::store
