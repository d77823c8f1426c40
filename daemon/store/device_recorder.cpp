#include "store/device_recorder.hpp"

#include "store/device_facts.hpp"

namespace fade::store {

using probes::Role;

DeviceRecorder::DeviceRecorder(sqlite::Db& db, Failure& failure, Books& books, MemoryRecorder& memory)
    : books_(books),
      memory_(memory),
      thread_device_(db, failure, "INSERT OR REPLACE INTO thread_device_ VALUES (?,?,?)") {}

void DeviceRecorder::thread_has(ThreadRow thread, CallRow call, std::int32_t device) {
  if (books_.allowed.calls) thread_device_(thread, call, device);
}

void DeviceRecorder::set_device(const RecordedCall& call) {
  const auto device = call.view.value(Role::Device);
  if (!call.succeeded() || !device) return;
  const auto current = static_cast<std::int32_t>(*device);
  if (!call.thread.device_told || current != call.thread.device) thread_has(call.thread.row, call.call, current);
  call.thread.device_told = true;
  call.thread.device = current;
}

void DeviceRecorder::query(const RecordedCall& call) {
  memory_.record(call);
  if (!call.succeeded()) return;
  if (!tells_device_facts(call.view.probe)) return books_.nvml.told({call.process, call.call, call.end}, call.view);
  const int ordinal = device_asked(call.view).value_or(call.thread.device);
  books_.devices.told({call.process, call.function.row, call.call, ordinal, call.end}, call.view);
}

}  // namespace fade::store
