// Memory of one process that another one uses. A process offers an allocation as a handle, and fade does not see how
// the handle travels. A process that opens the same bytes has that allocation. It is memory of the offering process,
// and counted there alone.
#include "store/memory_recorder.hpp"

namespace fade::store {

using probes::Role;

void MemoryRecorder::offer(const RecordedCall& call) {
  const auto handle = SharedHandles::of(call.view);
  const auto address = call.view.value(Role::Address);
  if (call.failed || !handle || !address) return;
  const Allocation* offered = memory_.allocation_at(call.process_id(), *address);
  handles_.add(*handle, {{call.process, offered ? offered->address : *address}, offered ? offered->bytes : 0});
}

void MemoryRecorder::open(const RecordedCall& call) {
  const auto address = probes::out_value(call.view.probe, Role::Address, call.record, call.view.payload);
  if (call.failed || !address || *address == 0) return;
  Allocation allocation = allocation_of(call);
  allocation.address = *address;
  const auto handle = SharedHandles::of(call.view);
  if (const SharedHandles::Offer* offer = handle ? handles_.find(*handle) : nullptr) {
    allocation.bytes = offer->bytes;
    allocation.owner = offer->owner;
  }
  memory_.allocate(call.process_id(), allocation);
}

// hipMemGetAddressRange gives the beginning of the allocation; hipMemPtrGetInfo is asked about the beginning.
void MemoryRecorder::measure(const RecordedCall& call) {
  const auto out = [&](Role role) { return probes::out_value(call.view.probe, role, call.record, call.view.payload); };
  const auto bytes = out(Role::Bytes);
  const auto base = out(Role::Address);
  const auto address = base ? base : call.view.value(Role::Address);
  if (!call.failed && bytes && address) memory_.measure(call.process_id(), *address, *bytes, call.end);
}

}  // namespace fade::store
