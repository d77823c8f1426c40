// A stand-in of libc10_hip and libc10: an allocator that takes pieces from HIP, gives out parts of them, and tells each
// part by the function that PyTorch's allocators tell their parts to.
#pragma once
#include <cstddef>
#include <cstdint>

namespace c10 {

struct Device {
  std::int8_t type, index;
};
void reportMemoryUsageToProfiler(void* ptr, std::int64_t alloc_size, std::int64_t total_allocated,
                                 std::int64_t total_reserved, Device device);

namespace hip {

struct Sums {
  std::size_t reserved, allocated, peak_allocated, largest_gap, blocks, pieces, small;
};
// Caching, in pieces of an expandable segment, without a cache, and from HIP's own pool.
enum class Way { Caching, Expandable, Plain, Async };
void take_by(Way wanted);

void* allocate(std::size_t bytes);
void release(void* block);
Sums sums();

}  // namespace hip
}  // namespace c10
