// Memory of one process that another one uses. A process offers an allocation as a handle, which travels by ways that nobody watches;
// whoever opens the same bytes has that allocation. It is the offering process's memory, and counted there alone.
#include "store/recorder.hpp"

namespace fade::store {

using probes::Role;

void Recorder::offer_memory(const Now& now) {
  const auto handle = SharedHandles::of(now.view);
  const auto address = now.view.value(Role::Address);
  if (now.failed || !handle || !address) return;
  const Allocation* offered = memory_.allocation_at(now.thread.process, *address);
  handles_.add(*handle, {{now.process, offered ? offered->address : *address}, offered ? offered->bytes : 0});
}

void Recorder::open_memory(const Now& now) {
  const auto address = probes::out_value(now.view.probe, Role::Address, now.record, now.view.payload);
  if (now.failed || !address || *address == 0) return;
  const MemoryAction& what = now.function.memory;
  Allocation allocation{.address = *address, .device = device_of(now), .kind = what.kind, .space = what.space, .cause = cause_of(now),
                        .library = directory_.library_of(now.record.caller)};
  const auto handle = SharedHandles::of(now.view);
  if (const SharedHandles::Offer* offer = handle ? handles_.find(*handle) : nullptr) {
    allocation.bytes = offer->bytes;
    allocation.owner = offer->owner;
  }
  memory_.allocate(now.thread.process, allocation);
}

// hipMemGetAddressRange tells where the allocation begins, hipMemPtrGetInfo is asked for the beginning.
void Recorder::measure_memory(const Now& now) {
  const auto out = [&](Role role) { return probes::out_value(now.view.probe, role, now.record, now.view.payload); };
  const auto bytes = out(Role::Bytes);
  const auto base = out(Role::Address);
  const auto address = base ? base : now.view.value(Role::Address);
  if (!now.failed && bytes && address) memory_.measure(now.thread.process, *address, *bytes, now.end);
}

}  // namespace fade::store
