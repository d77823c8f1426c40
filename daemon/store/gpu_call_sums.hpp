// Sums over work of a GPU by facts of its call: the delay of launches by kernel and stream, copies by direction, and
// work by step. Kept in memory as differences since the last flush.
#pragma once
#include <cstdint>
#include <map>
#include <tuple>

#include "store/gpu_kernels.hpp"
#include "store/histogram.hpp"
#include "store/write.hpp"

namespace fade::store {

class GpuCallSums {
 public:
  GpuCallSums(sqlite::Db& db, Failure& failure);

  // `ns`: from the entry of the launch to the start on the GPU; below 0 where the clocks disagree.
  void delay(ProcessRow process, GpuKernelRow kernel, StreamRow stream, std::int64_t ns);
  // `direction`: of copy_kind.
  void copy(ProcessRow process, DeviceRow device, std::int64_t direction, std::int64_t ns, std::int64_t bytes);
  // `busy`: of `ns`, the part that no other work had covered.
  void step(StepRow step, std::int64_t ns, std::int64_t busy);
  void flush();

 private:
  struct Delay {
    std::uint64_t n = 0, early = 0;
    std::int64_t ns = 0, min = 0, max = 0;
    Histogram histogram;
  };
  struct Copy {
    std::uint64_t n = 0;
    std::int64_t ns = 0, bytes = 0, longest = 0;
  };
  struct Step {
    std::uint64_t n = 0;
    std::int64_t ns = 0, busy = 0;
  };

  std::map<std::tuple<ProcessRow, GpuKernelRow, StreamRow>, Delay> delays_;
  std::map<std::tuple<ProcessRow, DeviceRow, std::int64_t>, Copy> copies_;
  std::map<StepRow, Step> steps_;
  Write delay_, copy_, step_;
};

}  // namespace fade::store
