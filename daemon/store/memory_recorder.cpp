#include "store/memory_recorder.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace fade::store {

using probes::MemoryAct;
using probes::Role;

namespace {

// Results of a free that mean: that is no such memory. Others are about the stream, the library's end, an earlier
// failure.
constexpr std::int64_t kNoSuchMemory[] = {1, 17};  // hipErrorInvalidValue, hipErrorInvalidDevicePointer

std::optional<std::uint64_t> out_number(const RecordedCall& call, std::uint8_t parameter) {
  const auto piece = call.view.piece(PieceKind::Out, parameter);
  std::uint64_t value = 0;
  if (!piece || piece->bytes.size() < sizeof value) return std::nullopt;
  std::memcpy(&value, piece->bytes.data(), sizeof value);
  return value;
}

}  // namespace

void MemoryRecorder::record(const RecordedCall& call) {
  using Act = void (MemoryRecorder::*)(const RecordedCall&);
  using M = MemoryRecorder;
  static constexpr std::array<Act, 12> kActs = {nullptr,   &M::allocate, &M::release, &M::map,  &M::unmap,   &M::retain,
                                                &M::reset, &M::told,     &M::offer,   &M::open, &M::measure, nullptr};
  static_assert(kActs.size() == static_cast<std::size_t>(MemoryAct::Node) + 1);
  const Act act = kActs[static_cast<std::size_t>(call.function.memory.act)];
  if (act && call.returned) (this->*act)(call);
}

// Without address and bytes.
Allocation MemoryRecorder::allocation_of(const RecordedCall& call) const {
  const probes::MemoryAction& what = call.function.memory;
  return {.device = streams_.device_of(call),
          .kind = what.kind,
          .space = what.space,
          .cause = cause(call),
          .library = directory_.library_of(call.record.caller)};
}

void MemoryRecorder::allocate(const RecordedCall& call) {
  const bool is_injected = (call.record.flags & kInjected) != 0;  // no memory was short
  if (call.failed && (call.view.result() != kOutOfMemory || is_injected)) return;
  Allocation allocation = allocation_of(call);
  allocation.bytes = call.view.bytes().value_or(0);
  if (const auto stream = call.view.value(Role::Stream); stream && *stream != 0)
    if (const DeviceRow device = stream_book_.device_of(call.process, *stream); device != 0) allocation.device = device;
  if (call.failed) return memory_.out_of_memory(call.process_id(), allocation);
  auto address = probes::out_value(call.view.probe, Role::Address, call.record, call.view.payload);
  if (!address && allocation.kind == MemoryKind::Registered) address = call.view.value(Role::Address);
  if (!address || *address == 0) return;
  allocation.address = *address;
  if (is_captured(call)) return capture(call, allocation, false);
  memory_.allocate(call.process_id(), allocation);
}

void MemoryRecorder::release(const RecordedCall& call) {
  const auto address = call.view.value(Role::Address);
  if (!address) return;
  const Space space = call.function.memory.space;
  if (!call.failed && is_captured(call)) return capture(call, {.address = *address}, true);
  if (!call.failed) return memory_.release(call.process_id(), space, *address, cause(call), streams_.device_of(call));
  if (std::ranges::find(kNoSuchMemory, call.view.result()) != std::end(kNoSuchMemory))
    memory_.refused(call.process_id(), space, *address, cause(call));
}

void MemoryRecorder::map(const RecordedCall& call) {
  const auto address = call.view.value(Role::Address), handle = call.view.value(Role::Object);
  if (!call.failed && address && handle)
    memory_.map(call.process_id(), *address, call.view.bytes().value_or(0), *handle);
}

void MemoryRecorder::unmap(const RecordedCall& call) {
  const auto address = call.view.value(Role::Address);
  if (!call.failed && address) memory_.unmap(call.process_id(), *address, call.view.bytes().value_or(0), cause(call));
}

void MemoryRecorder::retain(const RecordedCall& call) {
  const auto address = call.view.value(Role::Address);
  const auto handle = probes::out_value(call.view.probe, Role::Object, call.record, call.view.payload);
  if (!call.failed && address && handle) memory_.retain(call.process_id(), *handle, *address);
}

void MemoryRecorder::reset(const RecordedCall& call) {
  if (!call.failed) memory_.release_device(call.process_id(), streams_.device_of(call), cause(call));
}

void MemoryRecorder::told(const RecordedCall& call) {
  const auto free = out_number(call, 0), total = out_number(call, 1);
  if (!call.failed && free && total) memory_.told(streams_.device_of(call), *free, *total, cause(call));
}

}  // namespace fade::store
