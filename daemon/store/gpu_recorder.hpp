// What calls of HSA tell about work of GPUs, and which call put that work to run.
#pragma once
#include "store/books.hpp"
#include "store/copy_recorder.hpp"
#include "store/recorded_call.hpp"
#include "store/stream_recorder.hpp"

namespace fade::store {

class GpuRecorder {
 public:
  GpuRecorder(Books& books, StreamRecorder& streams, const CopyRecorder& copies)
      : books_(books), streams_(streams), copies_(copies) {}

  // A call of hsa.probes. It gets no row of its own, only sums.
  void record(RecordedCall& call);
  // Any call, after its family has recorded it: work may have been put to run in it.
  void ended(const RecordedCall& call) {
    if (books_.gpu.waits_for(call.record.id)) complete_work(call);
  }

  // A call that waits for the GPU has returned.
  void waited(const RecordedCall& call);

 private:
  DeviceRow device_waited_for(const RecordedCall& call);
  void packets(const RecordedCall& call);
  void packet(const RecordedCall& call, std::span<const std::byte> bytes);
  void copy(const RecordedCall& call, std::int64_t bytes, std::size_t signal);
  void told(const RecordedCall& call, std::size_t signal, std::size_t times, GpuKind kind);
  void symbol_given(const RecordedCall& call);
  void symbol_info(const RecordedCall& call);
  void system_info(const RecordedCall& call);
  void complete_work(const RecordedCall& call);
  void place(const RecordedCall& call, std::span<const std::shared_ptr<GpuWork>> works);
  void name_kernel(const RecordedCall& call, std::span<const std::shared_ptr<GpuWork>> works);
  std::shared_ptr<GpuWork> new_work(const RecordedCall& call, GpuKind kind) const;

  Books& books_;
  StreamRecorder& streams_;
  const CopyRecorder& copies_;
};

}  // namespace fade::store
