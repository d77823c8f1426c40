// The recorders of the families of calls. Each call goes to one of them, which fills the books of its family.
#pragma once
#include <cstdint>

#include "store/books.hpp"
#include "store/copy_recorder.hpp"
#include "store/device_recorder.hpp"
#include "store/gpu_recorder.hpp"
#include "store/launch_recorder.hpp"
#include "store/memory_recorder.hpp"
#include "store/recorded_call.hpp"
#include "store/stream_recorder.hpp"

namespace fade::store {

class FamilyRecorders {
 public:
  FamilyRecorders(sqlite::Db& db, Failure& failure, Books& books);

  // `told`: of LaneCache; another number means that rows of launches may have changed.
  void record(RecordedCall& call, std::uint64_t told);

  // More calls like `call`, which was recorded just now. Others than launches and copies tell the same again.
  void more(const RecordedCall& call, const AlikeCalls& more) {
    if (call.function.family == CallFamily::Launch) launches.more(call, more);
    if (call.function.family == CallFamily::Copy) copies.more(call, more);
  }

  StreamRecorder streams;
  MemoryRecorder memory;
  CopyRecorder copies;
  LaunchRecorder launches;
  GraphRecorder graphs;
  ModuleRecorder modules;
  DeviceRecorder devices;
  GpuRecorder gpu;

 private:
  void record_marker(const RecordedCall& call);

  Books& books_;
};

}  // namespace fade::store
