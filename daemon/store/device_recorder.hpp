// The device that a thread uses, and the answers that programs got about devices.
#pragma once
#include "store/books.hpp"
#include "store/memory_recorder.hpp"
#include "store/recorded_call.hpp"

namespace fade::store {

class DeviceRecorder {
 public:
  DeviceRecorder(sqlite::Db& db, Failure& failure, Books& books, MemoryRecorder& memory);

  // hipSetDevice, and hipGetDevice, which answers with the same number.
  void set_device(const RecordedCall& call);
  void query(const RecordedCall& call);

  // A thread began with a device, or changed it while nothing was recorded. `call`: the last call before; 0: none.
  void thread_has(ThreadRow thread, CallRow call, std::int32_t device);

 private:
  Books& books_;
  MemoryRecorder& memory_;
  Write thread_device_;
};

}  // namespace fade::store
