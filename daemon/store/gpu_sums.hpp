// Sums over work of a GPU with known times: by kernel and device, and by the second of the GPU's time. Kept in
// memory as differences since the last flush, and added to the tables there.
#pragma once
#include <cstdint>
#include <optional>
#include <unordered_map>

#include "store/histogram.hpp"
#include "store/row_ids.hpp"
#include "store/write.hpp"

namespace fade::store {

using GpuKernelRow = RowId<struct GpuKernelRowTag>;  // gpu_kernel_

// As in gpu_work_.
enum class GpuKind : std::uint8_t { Kernel, Copy, Fill, Barrier };

class GpuSums {
 public:
  GpuSums(sqlite::Db& db, Failure& failure);

  struct Key {
    ProcessRow process = 0;
    DeviceRow device = 0;  // 0: not known
    GpuKernelRow kernel = 0;
    GpuKind kind{};
    std::int64_t sec = 0;  // of sums by second
    bool operator==(const Key&) const = default;
  };
  void add(Key key, std::int64_t start, std::int64_t end, std::int64_t bytes);
  void end_timeline() { has_timeline_ = false; }
  void flush();

 private:
  struct Sum {
    std::uint64_t n = 0;
    std::int64_t ns = 0, min = 0, max = 0, bytes = 0, first = 0, last = 0;
    Histogram histogram;
  };
  struct Second {
    std::uint64_t began = 0;
    std::int64_t ns = 0;
  };
  struct Hash {
    std::size_t operator()(const Key& key) const;
  };

  void add_seconds(Key key, std::int64_t start, std::int64_t end);

  std::unordered_map<Key, Sum, Hash> sums_;
  std::unordered_map<Key, Second, Hash> seconds_;
  bool has_timeline_ = true;
  Write sum_, second_;
};

}  // namespace fade::store
