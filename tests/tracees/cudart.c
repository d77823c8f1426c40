// A program that nvcc compiled: it has kernels in a section of its own, registers them, and allocates through CUDA's
// runtime, which is a library or (built with STANDIN_INSIDE) a part of the program. With NO_KERNELS it has none, and
// nothing tells that it calls CUDA.
#include <stdio.h>
#include <stdlib.h>

#ifdef STANDIN_INSIDE
#include "zluda/cudart.c"
#else
void** __cudaRegisterFatBinary(void* fat_binary);
int cudaMalloc(void** out, size_t bytes);
int cudaFree(void* p);
#endif

#ifndef NO_KERNELS
static char kernels[64] __attribute__((section(".nv_fatbin"), used)) = "kernels";
#endif

int main(void) {
  void* p = NULL;
#ifndef NO_KERNELS
  if (!*__cudaRegisterFatBinary(kernels)) return 99;
#endif
  const int allocated = cudaMalloc(&p, 4096), freed = cudaFree(p);
  printf("allocated %d, freed %d\n", allocated, freed);
  return allocated || freed;
}
