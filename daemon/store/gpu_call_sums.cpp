#include "store/gpu_call_sums.hpp"

#include <algorithm>
#include <span>
#include <vector>

namespace fade::store {

GpuCallSums::GpuCallSums(sqlite::Db& db, Failure& failure)
    : delay_(db, failure,
             "INSERT INTO gpu_delay_ VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9) ON CONFLICT DO UPDATE SET n = n + excluded.n, "
             "total = total + excluded.total, min = min(min, excluded.min), max = max(max, excluded.max), "
             "early = early + excluded.early, hist = hist_merge(hist, excluded.hist)"),
      copy_(db, failure,
            "INSERT INTO gpu_copy_ VALUES (?1,?2,?3,?4,?5,?6,?7) ON CONFLICT DO UPDATE SET n = n + excluded.n, "
            "bytes = bytes + excluded.bytes, total = total + excluded.total, max = max(max, excluded.max)"),
      step_(db, failure,
            "INSERT INTO gpu_step_ VALUES (?1,?2,?3,?4) ON CONFLICT DO UPDATE SET n = n + excluded.n, "
            "total = total + excluded.total, busy = busy + excluded.busy") {}

void GpuCallSums::delay(ProcessRow process, GpuKernelRow kernel, StreamRow stream, std::int64_t ns) {
  Delay& sum = delays_[{process, kernel, stream}];
  sum.early += ns < 0;
  ns = std::max<std::int64_t>(ns, 0);
  sum.min = sum.n == 0 ? ns : std::min(sum.min, ns);
  sum.max = std::max(sum.max, ns);
  sum.ns += ns;
  ++sum.n;
  sum.histogram.add(ns);
}

void GpuCallSums::copy(ProcessRow process, DeviceRow device, std::int64_t direction, std::int64_t ns,
                       std::int64_t bytes) {
  Copy& sum = copies_[{process, device, direction}];
  ++sum.n;
  sum.ns += ns;
  sum.bytes += bytes;
  sum.longest = std::max(sum.longest, ns);
}

void GpuCallSums::step(StepRow step, std::int64_t ns, std::int64_t busy) {
  Step& sum = steps_[step];
  ++sum.n;
  sum.ns += ns;
  sum.busy += busy;
}

void GpuCallSums::flush() {
  for (const auto& [key, sum] : delays_) {
    const auto& [process, kernel, stream] = key;
    const std::vector<std::byte> histogram = sum.histogram.encode();
    delay_(process, kernel, stream, sum.n, sum.ns, sum.min, sum.max, sum.early, std::span<const std::byte>(histogram));
  }
  for (const auto& [key, sum] : copies_) {
    const auto& [process, device, direction] = key;
    copy_(process, device, direction, sum.n, sum.bytes, sum.ns, sum.longest);
  }
  for (const auto& [step, sum] : steps_) step_(step, sum.n, sum.ns, sum.busy);
  delays_.clear();
  copies_.clear();
  steps_.clear();
}

}  // namespace fade::store
