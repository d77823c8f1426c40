// arguments ROUNDS: in each round five functions that succeed, with arguments that tell the round, and one that fails.
#include <stdlib.h>

#include "tracee.h"

int main(int argc, char** argv) {
  const long rounds = argc > 1 ? atol(argv[1]) : 1000;
  int value = 0;
  for (long i = 0; i < rounds; ++i) {
    void* memory = NULL;
    HIP_OK(hipSetDevice(0));
    HIP_OK(hipDeviceGetAttribute(&value, hipDeviceAttributeWarpSize, 0));
    HIP_OK(hipMalloc(&memory, 4096 + (size_t)i));
    HIP_OK(hipMemset(memory, (int)(i % 256), 4096 + (size_t)i));
    HIP_OK(hipFree(memory));
    if (hipSetDevice(1000 + (int)i) == hipSuccess) return 1;
  }
  return 0;
}
