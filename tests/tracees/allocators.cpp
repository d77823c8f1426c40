// allocators ROUNDS WAY: memory that a stand-in of PyTorch's allocator takes from HIP and gives out in parts, and
// memory of the program itself. WAY: 0 to 3, as in torch_allocator.hpp.
#include <vector>

#include "torch_allocator.hpp"
#include "tracee.h"

namespace {

constexpr std::size_t kMiB = 1 << 20;

std::size_t size_of_block(int i) {
  if (i % 40 == 7) return 3 * kMiB + 512;
  if (i % 40 == 27) return 11 * kMiB + 1024;
  return static_cast<std::size_t>(1 + i * 37 % 61) * 4096;
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = number(argc, argv, 1, 200);
  c10::hip::take_by(static_cast<c10::hip::Way>(number(argc, argv, 2, 0)));
  void* own = nullptr;
  HIP_OK(hipMalloc(&own, 12345));
  std::vector<void*> blocks;
  for (int i = 0; i < rounds; ++i) {
    blocks.push_back(c10::hip::allocate(size_of_block(i)));
    if (i % 3 == 2) {
      const auto at = blocks.begin() + i * 7 % static_cast<long>(blocks.size());
      c10::hip::release(*at);
      blocks.erase(at);
    }
  }
  const c10::hip::Sums sums = c10::hip::sums();
  printf("reserved_bytes %zu\nallocated_bytes %zu\npeak_allocated_bytes %zu\nlargest_gap_bytes %zu\nblocks %zu\n",
         sums.reserved, sums.allocated, sums.peak_allocated, sums.largest_gap, sums.blocks);
  printf("segments %zu\nsegment_bytes %zu\nsmall_segment_bytes %zu\n", sums.pieces, sums.reserved, sums.small);
}
