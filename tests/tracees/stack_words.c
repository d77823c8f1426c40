// stack_words [ROUNDS]: calls whose last arguments are on the stack, one word, two and five of them, with other values
// each time.
#include "tracee.h"

extern const void* const handle __asm__("k_words");
const void* const handle = "words";

hipError_t hipMemcpy2D(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width, size_t height,
                       hipMemcpyKind kind);
hipError_t hipMemcpy2DAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width, size_t height,
                            hipMemcpyKind kind, hipStream_t stream);

int main(int argc, char** argv) {
  const int rounds = number(argc, argv, 1, 30);
  const dim3 grid = {6, 2, 1}, block = {32, 4, 1};
  char from[64] = "", to[64];
  hipStream_t streams[3];
  hipModule_t module;
  hipFunction_t function;
  __hipRegisterFunction(__hipRegisterFatBinary(""), &handle, "words", "words", ~0u, NULL, NULL, NULL, NULL, NULL);
  for (int i = 0; i < 3; ++i) HIP_OK(hipStreamCreate(&streams[i]));
  HIP_OK(hipModuleLoadData(&module, "image"));
  HIP_OK(hipModuleGetFunction(&function, module, "words"));
  for (int i = 0; i < rounds; ++i) {
    HIP_OK(hipMemcpy2D(to, 8, from, 8, 4, 2, hipMemcpyHostToHost));
    HIP_OK(hipLaunchKernel(&handle, grid, block, NULL, (size_t)(1000 + i), streams[i % 3]));
    HIP_OK(hipMemcpy2DAsync(to, 8, from, 8, 4, 2, hipMemcpyHostToHost, streams[i % 3]));
    HIP_OK(hipModuleLaunchKernel(function, 1, 2, 3, 4, 5, 6, (unsigned)(2000 + i), streams[i % 3], NULL, NULL));
  }
  printf("%d rounds\n", rounds);
}
