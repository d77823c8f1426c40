// allocators ROUNDS: memory that a stand-in of PyTorch's allocator takes from HIP and gives out in parts, and memory of
// the program itself.
#include <vector>

#include "torch_allocator.hpp"
#include "tracee.h"

int main(int argc, char** argv) {
  const int rounds = number(argc, argv, 1, 200);
  void* own = nullptr;
  HIP_OK(hipMalloc(&own, 12345));
  std::vector<void*> blocks;
  for (int i = 0; i < rounds; ++i) {
    blocks.push_back(c10::hip::allocate(static_cast<std::size_t>(1 + i * 37 % 61) * 4096));
    if (i % 3 == 2) {
      const auto at = blocks.begin() + i * 7 % static_cast<long>(blocks.size());
      c10::hip::release(*at);
      blocks.erase(at);
    }
  }
  const c10::hip::Sums sums = c10::hip::sums();
  printf("reserved_bytes %zu\nallocated_bytes %zu\npeak_allocated_bytes %zu\nlargest_gap_bytes %zu\nblocks %zu\n",
         sums.reserved, sums.allocated, sums.peak_allocated, sums.largest_gap, sums.blocks);
}
