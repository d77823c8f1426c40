// What calls do to the ledger of memory.
#include <algorithm>
#include <cstring>
#include <limits>

#include "store/recorder.hpp"

namespace fade::store {

using probes::Role;

namespace {

// Results of a free that mean: that is no such memory. Others are about the stream, the library's end, an earlier failure.
constexpr std::int64_t kNoSuchMemory[] = {1, 17};  // hipErrorInvalidValue, hipErrorInvalidDevicePointer

}  // namespace

Cause Recorder::cause_of(const Now& now) const {
  return {now.process, now.function.row, directory_.site_row(now.record.caller), now.call, directory_.call_row(now.record.parent), now.at, now.end};
}

void Recorder::on_memory(Now& now) {
  using Act = void (Recorder::*)(const Now&);
  static constexpr Act kActs[] = {nullptr,          &Recorder::allocate, &Recorder::release, &Recorder::map,
                                  &Recorder::unmap, &Recorder::retain,   &Recorder::reset,   &Recorder::told_memory,
                                  &Recorder::offer_memory, &Recorder::open_memory, &Recorder::measure_memory, nullptr};
  const Act act = kActs[static_cast<std::size_t>(now.function.memory.act)];
  if (act && now.returned) (this->*act)(now);
}

void Recorder::allocate(const Now& now) {
  const MemoryAction& what = now.function.memory;
  if (now.failed && now.view.result() != kOutOfMemory) return;
  Allocation allocation{.bytes = now.view.bytes().value_or(0), .device = device_of(now), .kind = what.kind, .space = what.space, .cause = cause_of(now),
                        .library = directory_.library_of(now.record.caller)};
  if (const auto stream = now.view.value(Role::Stream); stream && *stream != 0)
    if (const DeviceRow device = streams_.device_of(now.process, *stream); device != 0) allocation.device = device;
  if (now.failed) return memory_.out_of_memory(now.thread.process, allocation);
  auto address = probes::out_value(now.view.probe, Role::Address, now.record, now.view.payload);
  if (!address && what.kind == MemoryKind::Registered) address = now.view.value(Role::Address);
  if (!address || *address == 0) return;
  allocation.address = *address;
  if (is_captured(now)) return capture_memory(now, allocation, false);
  memory_.allocate(now.thread.process, allocation);
}

void Recorder::release(const Now& now) {
  const auto address = now.view.value(Role::Address);
  if (!address) return;
  const Space space = now.function.memory.space;
  if (!now.failed && is_captured(now)) return capture_memory(now, {.address = *address}, true);
  if (!now.failed) return memory_.release(now.thread.process, space, *address, cause_of(now), device_of(now));
  if (std::find(std::begin(kNoSuchMemory), std::end(kNoSuchMemory), now.view.result()) != std::end(kNoSuchMemory))
    memory_.refused(now.thread.process, space, *address, cause_of(now));
}

void Recorder::map(const Now& now) {
  const auto address = now.view.value(Role::Address), handle = now.view.value(Role::Object);
  if (!now.failed && address && handle) memory_.map(now.thread.process, *address, now.view.bytes().value_or(0), *handle);
}

void Recorder::unmap(const Now& now) {
  const auto address = now.view.value(Role::Address);
  if (!now.failed && address) memory_.unmap(now.thread.process, *address, now.view.bytes().value_or(0), cause_of(now));
}

void Recorder::retain(const Now& now) {
  const auto address = now.view.value(Role::Address);
  const auto handle = probes::out_value(now.view.probe, Role::Object, now.record, now.view.payload);
  if (!now.failed && address && handle) memory_.retain(now.thread.process, *handle, *address);
}

void Recorder::reset(const Now& now) {
  if (!now.failed) memory_.release_device(now.thread.process, device_of(now), cause_of(now));
}

void Recorder::told_memory(const Now& now) {
  const auto number = [&](std::uint8_t parameter) -> std::optional<std::uint64_t> {
    const auto piece = now.view.piece(PieceKind::Out, parameter);
    std::uint64_t value = 0;
    if (!piece || piece->bytes.size() < sizeof value) return std::nullopt;
    std::memcpy(&value, piece->bytes.data(), sizeof value);
    return value;
  };
  const auto free = number(0), total = number(1);
  if (!now.failed && free && total) memory_.told(device_of(now), *free, *total, cause_of(now));
}

}  // namespace fade::store
