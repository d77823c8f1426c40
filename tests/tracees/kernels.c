// Launches of registered kernels, as hipcc's <<<>>> makes them. kernels [LAUNCHES]
#include "tracee.h"

extern const void* const first_handle __asm__("_Z5firstPfi");
extern const void* const second_handle __asm__("_ZN2ns6secondIfEEvPT_");
const void* const first_handle = "first";
const void* const second_handle = "second";

static void launch(const void* handle, unsigned blocks, unsigned threads) {
  dim3 grid = {blocks, 1, 1}, block = {threads, 1, 1};
  size_t shared;
  hipStream_t stream;
  HIP_OK(__hipPushCallConfiguration(grid, block, 256, NULL));
  HIP_OK(__hipPopCallConfiguration(&grid, &block, &shared, &stream));
  HIP_OK(hipLaunchKernel(handle, grid, block, NULL, shared, stream));
}

int main(int argc, char** argv) {
  void** modules = __hipRegisterFatBinary("");
  __hipRegisterFunction(modules, &first_handle, "_Z5firstPfi", "_Z5firstPfi", ~0u, NULL, NULL, NULL, NULL, NULL);
  __hipRegisterFunction(modules, &second_handle, "_ZN2ns6secondIfEEvPT_", "_ZN2ns6secondIfEEvPT_", ~0u, NULL, NULL,
                        NULL, NULL, NULL);
  for (int i = 0; i < number(argc, argv, 1, 30); ++i) {
    launch(&first_handle, 4, 64);
    if (i % 3 == 0) launch(&second_handle, 16, 256);
  }
  HIP_OK(hipDeviceSynchronize());
  __hipUnregisterFatBinary(modules);
  printf("launched\n");
}
